package sim

import (
	"encoding/json"
	"encoding/xml"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/torture/judge"
)

// isForm: its body is a form.
func (p Plan) isForm(a Action) bool {
	return p.API.Terms.Carrier == oncehttp.CarrierForm && (a.Protection == judge.Keyed || a.Keyless)
}

// isXML: its body is XML.
func (p Plan) isXML(a Action) bool {
	return p.API.Terms.Carrier == oncehttp.CarrierXML && a.Protection == judge.Keyed
}

// media is the type of its body.
func (p Plan) media(a Action) string {
	switch {
	case p.isForm(a):
		return "application/x-www-form-urlencoded"
	case p.isXML(a):
		return "application/xml"
	}
	return "application/json"
}

// items: so many items of its body have keys.
func (p Plan) items(a Action) int {
	if a.Protection != judge.Keyed {
		return 0
	}
	return p.API.Terms.Items
}

// written is a payload as its caller writes it.
func (p Plan) written(a Action, body string) string {
	t := p.API.Terms
	if body == "" {
		return ""
	}
	adopted := a.Adopted != "" && t.within()
	if p.isForm(a) || p.isXML(a) {
		var members map[string]string
		if err := json.Unmarshal([]byte(body), &members); err != nil {
			panic(err)
		}
		if adopted {
			members[keyField] = a.Adopted
		}
		if t.Find.byValue() {
			members[forField] = a.Name
		}
		if p.isXML(a) {
			return xmlText(members)
		}
		if a.Ref {
			members[refField] = theirRef
		}
		form := url.Values{}
		for name, value := range members {
			form.Set(name, value)
		}
		return form.Encode()
	}
	more := ""
	switch items := p.items(a); {
	case items > 0:
		more += p.itemsText(a, items)
	case adopted:
		more += `,"` + keyField + `":"` + a.Adopted + `"`
	}
	if t.Find.byValue() {
		more += `,"` + forField + `":"` + a.Name + `"`
	}
	if a.Ref && t.Plant == oncehttp.CarrierJSON {
		more += `,"` + refObject + `":{"` + refField + `":"` + theirRef + `"}`
	}
	return strings.TrimSuffix(body, "}") + more + "}"
}

// itemsText is the member of a body that has the items.
func (p Plan) itemsText(a Action, items int) string {
	var texts []string
	for n := range items {
		text := `{"of":"` + a.Name + `"`
		if a.Adopted != "" {
			text += `,"` + keyField + `":"` + p.API.Terms.chosenOf(a.Adopted, n) + `"`
		}
		texts = append(texts, text+"}")
	}
	return `,"` + itemsField + `":[` + strings.Join(texts, ",") + "]"
}

// xmlText has the members as elements in the order of their names, which is the
// only spelling: XML is compared byte for byte.
func xmlText(members map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(members)) {
		b.WriteString("<" + name + ">" + members[name] + "</" + name + ">")
	}
	return "<" + xmlRoot + ">" + b.String() + "</" + xmlRoot + ">"
}

// xmlMembers are the elements of such a text, each once.
func xmlMembers(text string) (map[string]any, bool) {
	var root struct {
		Elements []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	if xml.Unmarshal([]byte(text), &root) != nil {
		return nil, false
	}
	members := map[string]any{}
	for _, e := range root.Elements {
		if _, twice := members[e.XMLName.Local]; twice {
			return nil, false
		}
		members[e.XMLName.Local] = e.Text
	}
	return members, true
}

// members are what a body says; false: nothing that can be read.
func (p Plan) members(a Action, body string) (members map[string]any, ok bool) {
	switch {
	case p.isXML(a):
		return xmlMembers(body)
	case p.isForm(a):
		form, err := url.ParseQuery(body)
		members = map[string]any{}
		for name, values := range form {
			members[name] = values
		}
		return members, err == nil
	}
	return members, json.Unmarshal([]byte(body), &members) == nil
}

// says is what a body says without what the client has written into it: equal
// for what its callers wrote, in any spelling.
func (p Plan) says(a Action, body string) string {
	members, ok := p.members(a, body)
	if !ok {
		return body
	}
	if a.Protection == judge.Keyed {
		delete(members, keyField)
		delete(members, sentField)
		delete(members, untilField)
		for _, item := range itemsOf(members) {
			delete(item, keyField)
		}
	}
	if !a.Ref {
		delete(members, refObject)
		if p.isForm(a) {
			delete(members, refField)
		}
	}
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// itemsOf a body.
func itemsOf(members map[string]any) (items []map[string]any) {
	list, _ := members[itemsField].([]any)
	for _, one := range list {
		item, _ := one.(map[string]any)
		items = append(items, item)
	}
	return items
}

// keyWithin is the key in a body, or its items' with commas between.
func (p Plan) keyWithin(body []byte) string {
	keyed := Action{Protection: judge.Keyed}
	members, ok := p.members(keyed, string(body))
	if !ok {
		return ""
	}
	switch key := members[keyField].(type) {
	case string:
		return key
	case []string:
		return key[0]
	}
	var keys []string
	for _, item := range itemsOf(members) {
		key, _ := item[keyField].(string)
		keys = append(keys, key)
	}
	return strings.Join(keys, ",")
}
