package oncehttp

import (
	"fmt"
	"strings"
	"unicode"
)

func (k *contractCheck) companions(c *Contract) {
	for i, m := range c.Companions {
		field := fmt.Sprintf("Companions[%d]", i)
		k.place(field, m.Kind, m.Name)
		k.failIf(m.Value > CompanionUntil, "%s.Value is %d; use one of the Companion constants", field, m.Value)
		k.failIf(m.Value == CompanionText && m.Text == "", "%s.Text is empty; say what is sent", field)
		k.failIf(m.Value != CompanionText && m.Text != "", "%s.Text is set and Value is not CompanionText; leave it out", field)
		k.failIf(strings.ContainsFunc(m.Text, unicode.IsControl), "%s.Text has control characters, which no header carries", field)
		k.failIf(m.Value == CompanionUntil && c.Window.Length <= 0, "%s is the end of the window, and Window.Length is not set", field)
	}
	k.failIf(c.Carrier.Kind == CarrierNone && len(c.Companions) > 0, "Companions are set and Carrier is not; what travels with a key needs one")
}

// place checks where something is written into the request.
func (k *contractCheck) place(field string, kind CarrierKind, name string) {
	switch kind {
	case CarrierHeader:
		k.failIf(!isToken(name), "%s.Name %q is not a header name", field, name)
		k.failIf(takenHeader(name), "%s.Name is %s, which has a meaning of its own in HTTP; use another", field, name)
	case CarrierJSON:
		k.failIf(name == "" || name == "/", "%s.Name %q names no field; write a JSON pointer as in /metadata/id", field, name)
		k.pointer(field+".Name", name)
	case CarrierForm, CarrierQuery:
		k.failIf(name == "", "%s.Name is empty; name the field", field)
	default:
		k.failIf(true, "%s.Kind is %d; use CarrierHeader, CarrierJSON, CarrierForm or CarrierQuery", field, kind)
	}
}
