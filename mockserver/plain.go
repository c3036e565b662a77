package mockserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// plainJSON reads a whole JSON text. Not ok: it is none, or not plain.
func plainJSON(text []byte) (v any, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, false
	}
	_, err = d.Token()
	return v, err == io.EOF
}

var errNotPlain = errors.New("mockserver: not plain JSON")

// decodeValue reads one JSON value, refusing duplicate names, of which
// encoding/json would silently keep the last, and deep nesting.
func decodeValue(d *json.Decoder, depth int) (any, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		return t, nil
	}
	if depth > 1000 {
		return nil, errNotPlain
	}
	object := map[string]any{}
	array := []any{}
	for d.More() {
		name := ""
		if open == '{' {
			t, err := d.Token()
			if err != nil {
				return nil, err
			}
			name = t.(string) // the decoder admits nothing else here
			if _, twice := object[name]; twice {
				return nil, errNotPlain
			}
		}
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if open == '{' {
			object[name] = v
		} else {
			array = append(array, v)
		}
	}
	if _, err := d.Token(); err != nil { // the closing bracket
		return nil, err
	}
	if open == '{' {
		return object, nil
	}
	return array, nil
}
