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
	// Pointer (RFC 6901) to a string in the JSON body that has it, a token * being
	// the first item of an array. A body that is neither empty nor JSON stays
	// without it. InErrors is the pointer in an answer from 400 on, where it is
	// another.
	Pointer  string `json:"pointer,omitzero"`
	InErrors string `json:"inErrors,omitzero"`
	// Status of the answer, where it was a success: 200 for a repeat of 201, or an
	// error whose body is the success's.
	Status int `json:"status,omitzero"`
	// Value of header and pointers. Default "true".
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

// place is the pointer that is meant in an answer.
func (m Mark) place(a Answer) string {
	if a.Status >= 400 && m.InErrors != "" {
		return m.InErrors
	}
	return m.Pointer
}

// own puts the API's own mark on an answer of its. What a body says at the
// pointer is mark enough.
func (x *exchange) own(a Answer) Answer {
	m := x.cfg.Profile.Origin
	if place := m.place(a); place != "" && a.holds(place) {
		m.Pointer, m.InErrors = "", ""
	}
	return x.marked(a, m, time.Now())
}

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
	if place := m.place(a); place != "" {
		a = a.edited(place, value)
	}
	if m.Status != 0 && a.Status/100 == 2 {
		a.Status = m.Status
	}
	return a
}
