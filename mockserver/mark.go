package mockserver

import (
	"fmt"
	"time"
)

// A Mark is put on an answer in every way that is set. The zero Mark marks
// nothing.
type Mark struct {
	// Header that has the value.
	Header string `json:"header,omitzero"`
	// Pointer (RFC 6901) to a string in the JSON body that has it. A body that is
	// neither empty nor JSON stays without it.
	Pointer string `json:"pointer,omitzero"`
	// Status of the answer, where it was a success: 200 for a repeat of 201, or an
	// error whose body is the success's.
	Status int `json:"status,omitzero"`
	// Value of header and pointer. Default "true".
	Value string `json:"value,omitzero"`
	// Says makes the value instead.
	Says MarkValue `json:"says,omitzero"`
}

// MarkValue is what a mark says.
type MarkValue string

const (
	// MarkText is the text of the mark.
	MarkText MarkValue = ""
	// MarkKey echoes the key.
	MarkKey MarkValue = "key"
	// MarkTime is when the first answer was stored, in RFC 3339.
	MarkTime MarkValue = "time"
	// MarkFresh is different on every answer, as the id of a request.
	MarkFresh MarkValue = "fresh"
)

// marked puts a mark on an answer that was stored at a time.
func (x *exchange) marked(a Answer, m Mark, stored time.Time) Answer {
	value := m.Value
	switch m.Says {
	case MarkKey:
		value = x.key
	case MarkTime:
		value = stored.UTC().Format(time.RFC3339Nano)
	case MarkFresh:
		value = fmt.Sprintf("req-%06d", x.entry.N) // a request has one answer
	}
	setDefault(&value, "true")
	if m.Header != "" {
		a = a.with(m.Header, value)
	}
	if m.Pointer != "" {
		a = a.edited(m.Pointer, value)
	}
	if m.Status != 0 && a.Status/100 == 2 {
		a.Status = m.Status
	}
	return a
}
