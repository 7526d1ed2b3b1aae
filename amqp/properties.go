package amqp

import "time"

// PropertyFlags says which properties a message has.
type PropertyFlags uint16

// The flag of each property, in the order in which they follow the flags.
const (
	HasContentType PropertyFlags = 1 << (15 - iota)
	HasContentEncoding
	HasHeaders
	HasDeliveryMode
	HasPriority
	HasCorrelationID
	HasReplyTo
	HasExpiration
	HasMessageID
	HasTimestamp
	HasType
	HasUserID
	HasAppID
	HasClusterID

	// unknownFlags are the flags that no property has.
	unknownFlags PropertyFlags = 1<<1 | 1<<0
)

// Delivery modes.
const (
	Transient  = 1
	Persistent = 2
)

// Properties are the properties of a message. On output a property is there if its flag is in
// Present or its value is not zero; so an empty headers table, or a priority of 0, takes a flag.
type Properties struct {
	Present         PropertyFlags
	ContentType     string
	ContentEncoding string
	Headers         Table
	DeliveryMode    uint8
	Priority        uint8
	CorrelationID   string
	ReplyTo         string
	Expiration      string // milliseconds, in decimal
	MessageID       string
	Timestamp       time.Time // whole seconds
	Type            string
	UserID          string
	AppID           string
	ClusterID       string
}

// ParseProperties parses property flags and properties. The result shares no memory with raw. The
// error is a *[SyntaxError].
func ParseProperties(raw []byte) (Properties, error) {
	if _, err := PropertiesInfo(raw); err != nil {
		return Properties{}, err
	}
	r := reader{buf: raw}
	p := Properties{Present: PropertyFlags(r.short())}
	text := func(flag PropertyFlags, field *string) {
		if p.Present&flag != 0 {
			*field = string(r.shortBytes())
		}
	}
	text(HasContentType, &p.ContentType)
	text(HasContentEncoding, &p.ContentEncoding)
	if p.Present&HasHeaders != 0 {
		p.Headers = readTable(r.longBytes())
	}
	if p.Present&HasDeliveryMode != 0 {
		p.DeliveryMode = r.octet()
	}
	if p.Present&HasPriority != 0 {
		p.Priority = r.octet()
	}
	text(HasCorrelationID, &p.CorrelationID)
	text(HasReplyTo, &p.ReplyTo)
	text(HasExpiration, &p.Expiration)
	text(HasMessageID, &p.MessageID)
	if p.Present&HasTimestamp != 0 {
		p.Timestamp = readTimestamp(&r)
	}
	text(HasType, &p.Type)
	text(HasUserID, &p.UserID)
	text(HasAppID, &p.AppID)
	text(HasClusterID, &p.ClusterID)
	return p, nil
}

// AppendProperties appends property flags and properties. It panics if [CheckTable] fails for the
// headers for another reason than depth.
func AppendProperties(dst []byte, p *Properties) []byte {
	present := p.Present&^unknownFlags | p.nonZero()
	text := func(flag PropertyFlags, s string) {
		if present&flag != 0 {
			dst = appendShortstr(dst, s)
		}
	}
	dst = appendShort(dst, uint16(present))
	text(HasContentType, p.ContentType)
	text(HasContentEncoding, p.ContentEncoding)
	if present&HasHeaders != 0 {
		start := len(dst)
		dst = endLong(AppendTable(append(dst, 0, 0, 0, 0), p.Headers), start)
	}
	if present&HasDeliveryMode != 0 {
		dst = append(dst, p.DeliveryMode)
	}
	if present&HasPriority != 0 {
		dst = append(dst, p.Priority)
	}
	text(HasCorrelationID, p.CorrelationID)
	text(HasReplyTo, p.ReplyTo)
	text(HasExpiration, p.Expiration)
	text(HasMessageID, p.MessageID)
	if present&HasTimestamp != 0 {
		dst = appendLonglong(dst, uint64(p.Timestamp.Unix()))
	}
	text(HasType, p.Type)
	text(HasUserID, p.UserID)
	text(HasAppID, p.AppID)
	text(HasClusterID, p.ClusterID)
	return dst
}

// nonZero returns the flags of the properties whose values are not zero.
func (p *Properties) nonZero() PropertyFlags {
	var flags PropertyFlags
	set := func(flag PropertyFlags, present bool) {
		if present {
			flags |= flag
		}
	}
	set(HasContentType, p.ContentType != "")
	set(HasContentEncoding, p.ContentEncoding != "")
	set(HasHeaders, len(p.Headers) > 0)
	set(HasDeliveryMode, p.DeliveryMode != 0)
	set(HasPriority, p.Priority != 0)
	set(HasCorrelationID, p.CorrelationID != "")
	set(HasReplyTo, p.ReplyTo != "")
	set(HasExpiration, p.Expiration != "")
	set(HasMessageID, p.MessageID != "")
	set(HasTimestamp, !p.Timestamp.IsZero())
	set(HasType, p.Type != "")
	set(HasUserID, p.UserID != "")
	set(HasAppID, p.AppID != "")
	set(HasClusterID, p.ClusterID != "")
	return flags
}

// Info is what a broker wants to know of a message's properties before it stores them unread.
// Its byte slices alias the properties; those of absent properties are nil.
type Info struct {
	Present      PropertyFlags
	DeliveryMode uint8
	Priority     uint8
	ReplyTo      []byte
	Expiration   []byte
	UserID       []byte
	HasHeaders   bool
	Headers      []byte // a table's entries, see ParseTable
}

// PropertiesInfo checks property flags and properties from the first octet to the last, and
// looks some of them up. It allocates only its error, which is a *[SyntaxError].
func PropertiesInfo(raw []byte) (Info, error) {
	r := reader{buf: raw}
	present := PropertyFlags(r.short())
	info := Info{Present: present, HasHeaders: present&HasHeaders != 0}
	if present&unknownFlags != 0 {
		r.fail(ErrFlags)
	}
	skipTexts(&r, present&(HasContentType|HasContentEncoding))
	if info.HasHeaders {
		info.Headers = r.table()
	}
	if present&HasDeliveryMode != 0 {
		info.DeliveryMode = r.octet()
	}
	if present&HasPriority != 0 {
		info.Priority = r.octet()
	}
	skipTexts(&r, present&HasCorrelationID)
	if present&HasReplyTo != 0 {
		info.ReplyTo = r.shortBytes()
	}
	if present&HasExpiration != 0 {
		info.Expiration = r.shortBytes()
	}
	skipTexts(&r, present&HasMessageID)
	if present&HasTimestamp != 0 {
		r.longlong()
	}
	skipTexts(&r, present&HasType)
	if present&HasUserID != 0 {
		info.UserID = r.shortBytes()
	}
	skipTexts(&r, present&(HasAppID|HasClusterID))
	if err := r.end(); err != nil {
		return Info{}, &SyntaxError{What: "properties", Err: err}
	}
	return info, nil
}

// skipTexts skips one short string for each flag.
func skipTexts(r *reader, flags PropertyFlags) {
	for ; flags != 0; flags &= flags - 1 {
		r.shortBytes()
	}
}
