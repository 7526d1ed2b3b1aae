package server

import (
	"time"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// copyHeader is part of the names of both headers by which a sender adds routing keys, CC and BCC: most messages can be told
// to have neither without parsing their headers.
var copyHeader = []byte("CC")

// addCopies adds the routing keys in the headers CC and BCC. The latter is not for the receivers to see.
func addCopies(m *queue.Message) error {
	headers := m.Headers()
	for _, name := range []string{"CC", "BCC"} {
		value, there := headers[name]
		if !there {
			continue
		}
		keys, ok := value.([]any)
		if !ok {
			return refuse(queue.PreconditionFailed, "invalid message: {unacceptable_type_in_header,\"%s\",%s}", name, typeName(value))
		}
		for _, key := range keys {
			if k, ok := key.(string); ok { // others are no keys, and no error either
				m.MoreKeys = append(m.MoreKeys, []byte(k))
			}
		}
	}
	if _, there := headers["BCC"]; !there {
		return nil
	}
	properties, err := amqp.ParseProperties(m.Properties)
	if err != nil {
		return err
	}
	delete(headers, "BCC")
	properties.Headers = headers
	m.Properties = amqp.AppendProperties(nil, &properties)
	m.Headers = func() map[string]any { return headers }
	return nil
}

// typeName is RabbitMQ's name for the type of a field value.
func typeName(v any) string {
	switch v.(type) {
	case string:
		return "longstr"
	case bool:
		return "bool"
	case int8:
		return "byte"
	case uint8:
		return "unsignedbyte"
	case int16:
		return "short"
	case uint16:
		return "unsignedshort"
	case int32:
		return "signedint"
	case uint32:
		return "unsignedint"
	case int64:
		return "long"
	case float32:
		return "float"
	case float64:
		return "double"
	case amqp.Decimal:
		return "decimal"
	case time.Time:
		return "timestamp"
	case amqp.Table:
		return "table"
	case []any:
		return "array"
	case []byte:
		return "binary"
	}
	return "void"
}
