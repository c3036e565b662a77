package oncehttp

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// asked is what the body of a request asks for, read as far as contracts want
// to know.
type asked struct {
	header http.Header
	text   []byte
	whole  bool // text is the body
	kind   OperationKind
	form   url.Values
	doc    answerBody
	fields []rootField
	// told, parsed and split say that kind, form or doc, and fields are read.
	told, parsed, split bool
}

// mayAsk reports whether a body with this header can ask for the operation.
func (a *asked) mayAsk(o *Operation) bool {
	if !a.told {
		a.kind, a.told = bodyKind(a.header), true
	}
	if o.Kind == OperationForm {
		return a.kind == OperationForm
	}
	return a.kind == OperationJSON
}

// bodyKind is OperationForm or OperationJSON by what the header says of the
// body; else, and where the body is compressed or not in UTF-8, OperationAny.
func bodyKind(h http.Header) OperationKind {
	name, err := plainType(h)
	switch {
	case err != nil:
		return OperationAny
	case formMediaType(name):
		return OperationForm
	case jsonMediaType(name):
		return OperationJSON
	}
	return OperationAny
}

// asks reports whether the body, which is there whole and may ask for it, asks
// for the operation.
func (a *asked) asks(o *Operation) bool {
	if !a.parsed {
		a.parsed = true
		if a.kind == OperationForm {
			if form, err := url.ParseQuery(string(a.text)); err == nil {
				a.form = form
			}
		} else if doc, ok := readAnswerBody(a.text); ok {
			a.doc = doc
		}
	}
	switch {
	case o.Kind == OperationForm:
		values := a.form[o.At]
		return len(values) == 1 && slices.Contains(o.Names, values[0])
	case a.doc == nil:
		return false
	case o.Kind == OperationJSON:
		name, ok := a.doc.textAt(o.At)
		return ok && slices.Contains(o.Names, name)
	}
	if !a.split {
		a.split = true
		a.fields, _ = a.doc.rootFields()
	}
	return o.runs(a.fields)
}

// rootFields are those of a GraphQL request in JSON
// (https://graphql.github.io/graphql-over-http/draft/, section 5.1).
func (b answerBody) rootFields() ([]rootField, bool) {
	query, ok := b.at("/query")
	if !ok || query[0] != '"' {
		return nil, false
	}
	operation := ""
	if name, ok := b.at("/operationName"); ok && !name.isNull() {
		if name[0] != '"' {
			return nil, false
		}
		operation = unquoteJSON(name)
	}
	return rootFields(unquoteJSON(query), operation)
}

// runs reports whether root fields are the operation's, all of them: one that is
// not would be sent again under a promise that does not speak of it.
func (o *Operation) runs(fields []rootField) bool {
	some := false
	for _, f := range fields {
		if f.name == typeName {
			continue // it asks for nothing
		}
		some = true
		if !slices.Contains(o.Names, f.name) && !slices.ContainsFunc(o.Names, func(name string) bool {
			directive, ok := strings.CutPrefix(name, "@")
			return ok && slices.Contains(f.directives, directive)
		}) {
			return false
		}
	}
	return some
}

// typeName may be asked of every GraphQL type.
const typeName = "__typename"

// rank says how specific an operation is: a directive says more than a field.
func (o *Operation) rank() int {
	switch {
	case o.Kind == OperationAny:
		return 0
	case o.Kind == OperationGraphQL && !slices.ContainsFunc(o.Names, func(name string) bool { return !isDirective(name) }):
		return 2
	}
	return 1
}

func isDirective(name string) bool { return strings.HasPrefix(name, "@") }

// meets reports whether a body may ask for two operations of one rank.
func (o *Operation) meets(p *Operation) bool {
	switch {
	case o.Kind == OperationAny:
		return true
	case (o.Kind == OperationForm) != (p.Kind == OperationForm):
		return false
	case o.Kind != p.Kind || o.At != p.At:
		return true
	case o.Kind == OperationGraphQL && (slices.ContainsFunc(o.Names, isDirective) || slices.ContainsFunc(p.Names, isDirective)):
		return true // a field may have both
	}
	return slices.ContainsFunc(o.Names, func(name string) bool { return slices.Contains(p.Names, name) })
}

// operation checks what selects by the body.
func (k *contractCheck) operation(o Operation) {
	const field = "Match.Operation"
	switch o.Kind {
	case OperationAny:
		k.failIf(o.At != "" || len(o.Names) > 0, "%s.At or Names is set without a Kind; set %s.Kind", field, field)
		return
	case OperationForm:
		k.failIf(o.At == "", "%s.At is empty; name the form field", field)
	case OperationJSON:
		k.failIf(o.At == "", "%s.At is empty; give the JSON pointer of the operation's name", field)
		k.pointer(field+".At", o.At)
	case OperationGraphQL:
		k.failIf(o.At != "", "%s.At is %q and the operation of a GraphQL body stands in its query; leave it out", field, o.At)
	default:
		k.failIf(true, "%s.Kind is %d; use one of the Operation constants", field, o.Kind)
		return
	}
	k.failIf(len(o.Names) == 0, "%s.Names is empty; name an operation", field)
	for i, name := range o.Names {
		k.failIf(name == "", "%s.Names[%d] is empty; name an operation", field, i)
		if bare := strings.TrimPrefix(name, "@"); o.Kind == OperationGraphQL && name != "" {
			k.failIf(bare == "" || isDigit(bare[0]) || strings.ContainsFunc(bare, func(r rune) bool { return r > 'z' || !isNameByte(byte(r)) }),
				"%s.Names[%d] %q is not a field, nor a directive with its @", field, i, name)
			k.failIf(name == typeName, "%s.Names[%d] is %s, which asks for nothing; leave it out", field, i, name)
		}
	}
}
