package oncehttp

import (
	"net/http"
	"slices"
	"unicode/utf8"
)

// JSON holds characters. A URL, a header's value, a reference and the name of a
// stripped parameter may hold bytes that are none in UTF-8 (RFC 9110 section 5.5:
// obs-text): then in all of these each byte is written as the character of its
// number, as ISO 8859-1 has it.

// plain: every text of the record stays as it is in JSON.
func (r record) plain() bool {
	return plainTexts([]string{r.Begun.URL, r.Begun.Host, r.Reference}) && plainTexts(r.Begun.Stripped) && plainHeader(r.Begun.Header) &&
		(r.Answer == nil || plainHeader(r.Answer.Header))
}

func plainHeader(h http.Header) bool {
	for _, values := range h {
		if !plainTexts(values) {
			return false
		}
	}
	return true
}

func plainTexts(texts []string) bool {
	for _, s := range texts {
		if !utf8.ValidString(s) {
			return false
		}
	}
	return true
}

// respell spells those texts anew. What r shared with other records stays theirs.
func (r *record) respell(spell func(string) string) {
	respellAll := func(texts []string) {
		for i := range texts {
			texts[i] = spell(texts[i])
		}
	}
	respellHeader := func(h http.Header) http.Header {
		h = h.Clone()
		for _, values := range h {
			respellAll(values)
		}
		return h
	}
	r.Begun.Stripped = slices.Clone(r.Begun.Stripped)
	respellAll(r.Begun.Stripped)
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
