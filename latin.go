package oncehttp

import (
	"net/http"
	"unicode/utf8"
)

// JSON holds characters. A URL, a header's value and a reference may hold bytes
// that are none in UTF-8 (RFC 9110 section 5.5: obs-text): then in all of these
// each byte is written as the character of its number, as ISO 8859-1 has it.

// plain: every text of the record stays as it is in JSON.
func (r record) plain() bool {
	all := utf8.ValidString(r.Begun.URL) && utf8.ValidString(r.Begun.Host) && utf8.ValidString(r.Reference) && plainHeader(r.Begun.Header)
	return all && (r.Answer == nil || plainHeader(r.Answer.Header))
}

func plainHeader(h http.Header) bool {
	for _, values := range h {
		for _, v := range values {
			if !utf8.ValidString(v) {
				return false
			}
		}
	}
	return true
}

// respell spells those texts anew. What r shared with other records stays theirs.
func (r *record) respell(spell func(string) string) {
	respellHeader := func(h http.Header) http.Header {
		h = h.Clone()
		for _, values := range h {
			for i := range values {
				values[i] = spell(values[i])
			}
		}
		return h
	}
	r.Begun.URL, r.Begun.Host, r.Reference = spell(r.Begun.URL), spell(r.Begun.Host), spell(r.Reference)
	r.Begun.Header = respellHeader(r.Begun.Header)
	if r.Answer != nil {
		a := *r.Answer
		a.Header = respellHeader(a.Header)
		r.Answer = &a
	}
}

func toLatin(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func fromLatin(s string) string {
	b := make([]byte, 0, len(s))
	for _, r := range s {
		b = append(b, byte(r))
	}
	return string(b)
}
