package amqp

import "encoding/binary"

// contentHeaderSize is what a header frame's payload holds before the property flags.
const contentHeaderSize = 2 + 2 + 8

// AppendHeader appends a header frame. props are the property flags and the properties, as
// ParseHeader gives them or AppendProperties makes them; nil stands for no property.
func AppendHeader(dst []byte, ch uint16, class uint16, bodySize uint64, props []byte) []byte {
	if len(props) == 0 {
		props = noProperties
	}
	dst = AppendFrameHeader(dst, FrameHeader, ch, uint32(contentHeaderSize+len(props)))
	dst = append(dst, byte(class>>8), byte(class), 0, 0)
	dst = appendLonglong(dst, bodySize)
	dst = append(dst, props...)
	return append(dst, FrameEnd)
}

var noProperties = []byte{0, 0}

// ParseHeader takes a header frame's payload apart. props are the property flags and the
// properties, aliasing payload. They are checked, unless the class is another than basic, which alone
// has content: whoever expects a message looks at class first. Errors are *[SyntaxError].
func ParseHeader(payload []byte) (class uint16, bodySize uint64, props []byte, err error) {
	if len(payload) < contentHeaderSize+2 {
		return 0, 0, nil, &SyntaxError{What: "content header", Err: ErrTruncated}
	}
	class = binary.BigEndian.Uint16(payload)
	bodySize = binary.BigEndian.Uint64(payload[4:])
	props = payload[contentHeaderSize:]
	if class != ClassBasic {
		return class, bodySize, props, nil
	}
	if binary.BigEndian.Uint16(payload[2:]) != 0 {
		return class, bodySize, nil, &SyntaxError{What: "content header", Err: ErrWeight}
	}
	if _, err := PropertiesInfo(props); err != nil {
		return class, bodySize, nil, err
	}
	return class, bodySize, props, nil
}
