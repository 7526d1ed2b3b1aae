package admin

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// stored answers a PUT that has been carried out, or has not: 201 for something new, 204 for what there was.
func stored(w http.ResponseWriter, created bool, err error) error {
	switch {
	case err != nil:
		return err
	case created:
		w.WriteHeader(http.StatusCreated)
	default:
		w.WriteHeader(http.StatusNoContent)
	}
	return nil
}

// deleted answers a DELETE that has been carried out.
func deleted(w http.ResponseWriter) error {
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// readBody reads a JSON object into body. Nothing, "" and null are the empty object, and unknown keys do not
// matter: this is what RabbitMQ's tools rely on.
func readBody(r *request, body any) error {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		return badRequest("Exceeded HTTP request body size limit")
	}
	switch strings.TrimSpace(string(text)) {
	case "", `""`, "null", "undefined":
		return nil
	}
	if !json.Valid(text) {
		return badRequest("not_json")
	}
	if err := json.Unmarshal(text, body); err != nil {
		return badRequest(fmt.Sprintf("body: %v", err))
	}
	return nil
}

// setIf stores a value that the body had.
func setIf[T any](field *T, value *T) {
	if value != nil {
		*field = *value
	}
}

// flag is a boolean that may come as text.
type flag bool

func (f *flag) UnmarshalJSON(text []byte) error {
	switch strings.Trim(string(text), `"`) {
	case "true":
		*f = true
	case "false":
		*f = false
	default:
		return fmt.Errorf("%s is neither true nor false", text)
	}
	return nil
}

// nameList is a list of names that may come as one text with commas.
type nameList []string

func (l *nameList) UnmarshalJSON(text []byte) error {
	*l = nameList{}
	var one string
	if json.Unmarshal(text, &one) != nil {
		return json.Unmarshal(text, (*[]string)(l))
	}
	for name := range strings.SplitSeq(one, ",") {
		if name = strings.TrimSpace(name); name != "" {
			*l = append(*l, name)
		}
	}
	return nil
}
