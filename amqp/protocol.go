package amqp

// ProtocolHeader is what a client sends first, and what a server answers, before it closes the
// connection, to a header it does not speak.
const ProtocolHeader = "AMQP\x00\x00\x09\x01"

// protocolHeader09 announces AMQP 0-9, of which everything a client may say is understood.
const protocolHeader09 = "AMQP\x01\x01\x00\x09"

// SpokenProtocol reports whether header, the first octets of a connection, opens a conversation in
// this codec's protocol. With fewer than the eight octets it reports whether they still may.
func SpokenProtocol(header []byte) bool {
	n := min(len(header), len(ProtocolHeader))
	head := string(header[:n])
	return head == ProtocolHeader[:n] || head == protocolHeader09[:n]
}
