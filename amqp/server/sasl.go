package server

import (
	"bytes"

	"github.com/warrenmq/warren/amqp"
	"github.com/warrenmq/warren/queue"
)

// credentials takes user and password from a SASL response.
func credentials(mechanism string, response []byte) (user, password string, err error) {
	switch mechanism {
	case "PLAIN":
		return plain(response)
	case "AMQPLAIN":
		return amqplain(response)
	case "EXTERNAL", "ANONYMOUS", "RABBIT-CR-DEMO":
		return "", "", refuse(queue.CommandInvalid, "invalid authentication mechanism '%s'", mechanism)
	}
	return "", "", refuse(queue.CommandInvalid, "unknown authentication mechanism '%s'", mechanism)
}

// plain reads RFC 4616's authzid NUL authcid NUL password. Acting for somebody else (authzid) is not supported, and the
// field is ignored.
func plain(response []byte) (user, password string, err error) {
	_, rest, ok1 := bytes.Cut(response, []byte{0})
	u, p, ok2 := bytes.Cut(rest, []byte{0})
	if !ok1 || !ok2 || bytes.IndexByte(p, 0) >= 0 {
		return "", "", refuse(queue.SyntaxError, "PLAIN auth info is not authzid NUL authcid NUL password")
	}
	return string(u), string(p), nil
}

// amqplain reads a table's entries LOGIN and PASSWORD.
func amqplain(response []byte) (user, password string, err error) {
	t, err := amqp.ParseTable(response)
	if err != nil {
		return "", "", err
	}
	user, hasUser := t["LOGIN"].(string)
	password, hasPassword := t["PASSWORD"].(string)
	if !hasUser || !hasPassword {
		return "", "", refuse(queue.SyntaxError, "AMQPLAIN auth info is missing LOGIN or PASSWORD field")
	}
	return user, password, nil
}
