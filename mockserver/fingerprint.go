package mockserver

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
)

type fingerprint [sha256.Size]byte

// printOf covers method, path with query, and body. A JSON body counts by
// structure: order of members and white space do not matter, the spelling of
// numbers does. What is not plain JSON counts byte for byte.
func printOf(r *http.Request, body []byte) fingerprint {
	h := sha256.New()
	for _, part := range [][]byte{[]byte(r.Method), []byte(r.URL.RequestURI()), canonical(r.Header.Get("Content-Type"), body)} {
		sum := sha256.Sum256(part)
		h.Write(sum[:])
	}
	return fingerprint(h.Sum(nil))
}

func canonical(contentType string, body []byte) []byte {
	media, _, _ := mime.ParseMediaType(contentType)
	if media != "application/json" && !strings.HasSuffix(media, "+json") {
		return body
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return body
	}
	if _, err := d.Token(); err != io.EOF {
		return body
	}
	out, err := json.Marshal(v)
	if err != nil {
		return body
	}
	return out
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
