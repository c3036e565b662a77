package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// The types below give durations and headers the spelling that people write in
// JSON; all else goes by the tags of the structs.

type durationText time.Duration

func (d durationText) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

func (d *durationText) UnmarshalText(b []byte) error {
	v, err := time.ParseDuration(string(b))
	*d = durationText(v)
	return err
}

type headerText http.Header

func (h headerText) MarshalJSON() ([]byte, error) {
	out := map[string]any{}
	for name, values := range h {
		if len(values) == 1 {
			out[name] = values[0]
		} else {
			out[name] = values
		}
	}
	return json.Marshal(out)
}

func (h *headerText) UnmarshalJSON(b []byte) error {
	var in map[string]any
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*h = headerText{}
	for name, v := range in {
		values, list := v.([]any)
		if !list {
			values = []any{v}
		}
		for _, one := range values {
			text, ok := one.(string)
			if !ok {
				return fmt.Errorf("header %s: want a string or a list of strings", name)
			}
			canonical := http.CanonicalHeaderKey(name)
			(*h)[canonical] = append((*h)[canonical], text)
		}
	}
	return nil
}

// strict refuses fields that v does not have.
func strict(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	return d.Decode(v)
}

type plainFault Fault

type faultText struct {
	*plainFault
	Before durationText `json:"before,omitzero"`
	Late   durationText `json:"late,omitzero"`
	After  durationText `json:"after,omitzero"`
	Every  durationText `json:"every,omitzero"`
	Header headerText   `json:"header,omitzero"`
}

func (f Fault) MarshalJSON() ([]byte, error) {
	return json.Marshal(faultText{
		(*plainFault)(&f), durationText(f.Before), durationText(f.Late),
		durationText(f.After), durationText(f.Every), headerText(f.Header),
	})
}

// UnmarshalJSON refuses unknown fields.
func (f *Fault) UnmarshalJSON(b []byte) error {
	*f = Fault{}
	t := faultText{plainFault: (*plainFault)(f)}
	if err := strict(b, &t); err != nil {
		return err
	}
	f.Before, f.Late, f.After, f.Every = time.Duration(t.Before), time.Duration(t.Late), time.Duration(t.After), time.Duration(t.Every)
	f.Header = http.Header(t.Header)
	return nil
}

type plainAnswer Answer

type answerText struct {
	*plainAnswer
	Header headerText `json:"header,omitzero"`
}

func (a Answer) MarshalJSON() ([]byte, error) {
	return json.Marshal(answerText{(*plainAnswer)(&a), headerText(a.Header)})
}

// UnmarshalJSON refuses unknown fields.
func (a *Answer) UnmarshalJSON(b []byte) error {
	*a = Answer{}
	t := answerText{plainAnswer: (*plainAnswer)(a)}
	err := strict(b, &t)
	a.Header = http.Header(t.Header)
	return err
}

type plainProfile Profile

type profileText struct {
	*plainProfile
	TTL durationText `json:"ttl,omitzero"`
}

func (p Profile) MarshalJSON() ([]byte, error) {
	return json.Marshal(profileText{(*plainProfile)(&p), durationText(p.TTL)})
}

// UnmarshalJSON refuses unknown fields.
func (p *Profile) UnmarshalJSON(b []byte) error {
	*p = Profile{}
	t := profileText{plainProfile: (*plainProfile)(p)}
	err := strict(b, &t)
	p.TTL = time.Duration(t.TTL)
	return err
}

type plainFind Find

type findText struct {
	*plainFind
	Lag durationText `json:"lag,omitzero"`
}

func (f Find) MarshalJSON() ([]byte, error) {
	return json.Marshal(findText{(*plainFind)(&f), durationText(f.Lag)})
}

// UnmarshalJSON refuses unknown fields.
func (f *Find) UnmarshalJSON(b []byte) error {
	*f = Find{}
	t := findText{plainFind: (*plainFind)(f)}
	err := strict(b, &t)
	f.Lag = time.Duration(t.Lag)
	return err
}
