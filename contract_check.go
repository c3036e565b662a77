package oncehttp

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// clone copies a contract so that its slices are its own.
func (c Contract) clone() *Contract {
	c.Match.Hosts = slices.Clone(c.Match.Hosts)
	c.Match.Methods = slices.Clone(c.Match.Methods)
	c.Match.Paths, c.Match.Operation.Names = slices.Clone(c.Match.Paths), slices.Clone(c.Match.Operation.Names)
	c.Companions = slices.Clone(c.Companions)
	c.Compared.Headers, c.Compared.Except = slices.Clone(c.Compared.Headers), slices.Clone(c.Compared.Except)
	for _, m := range []*Marker{&c.Origin, &c.Replay, &c.Ignored} {
		m.Headers, m.Values = slices.Clone(m.Headers), slices.Clone(m.Values)
		m.At, m.Status = slices.Clone(m.At), slices.Clone(m.Status)
	}
	c.Answers = slices.Clone(c.Answers)
	for i := range c.Answers {
		a := &c.Answers[i]
		a.Status, a.At, a.Codes = slices.Clone(a.Status), slices.Clone(a.At), slices.Clone(a.Codes)
	}
	c.Stored.Except = slices.Clone(c.Stored.Except)
	c.Hints.Headers = slices.Clone(c.Hints.Headers)
	c.Lookups = slices.Clone(c.Lookups)
	for i := range c.Lookups {
		c.Lookups[i].Is = slices.Clone(c.Lookups[i].Is)
	}
	c.Sources = slices.Clone(c.Sources)
	return &c
}

// A contractCheck gathers what is wrong with one contract.
type contractCheck struct {
	label string
	errs  []error
}

// failIf notes a problem: the field, what is wrong, and what to do.
func (k *contractCheck) failIf(wrong bool, format string, args ...any) {
	if wrong {
		k.errs = append(k.errs, fmt.Errorf("oncehttp: contract %s: %s", k.label, fmt.Sprintf(format, args...)))
	}
}

// checkContract says all that is wrong with the contract at an index of the
// configuration.
func checkContract(c *Contract, index int) []error {
	k := &contractCheck{label: fmt.Sprintf("#%d", index)}
	if c.Name != "" {
		k.label = fmt.Sprintf("%q (#%d)", c.Name, index)
	}
	k.failIf(!utf8.ValidString(c.Name) || strings.ContainsFunc(c.Name, unicode.IsControl),
		"Name has control characters or is not UTF-8; use plain text")
	k.match(c.Match)
	k.carrier(c.Carrier)
	k.companions(c)
	k.key(c.Key)
	k.batch(c)
	k.compared(c.Compared)
	k.window(c)
	k.marker("Origin", c.Origin, c)
	k.marker("Replay", c.Replay, c)
	k.marker("Ignored", c.Ignored, c)
	for i, a := range c.Answers {
		k.answer(fmt.Sprintf("Answers[%d]", i), a)
	}
	k.stored(c)
	k.hints(c.Hints)
	for i, l := range c.Lookups {
		k.lookup(fmt.Sprintf("Lookups[%d]", i), l, c)
	}
	k.plant(c)
	k.failIf(c.Pin >= PinPath<<1, "Pin is %d; join the Pin constants", c.Pin)
	k.failIf(c.Proof > ProofUnknown, "Proof is %d; use one of the Proof constants", c.Proof)
	if c.AsOf != "" {
		_, err := time.Parse(time.DateOnly, c.AsOf)
		k.failIf(err != nil, "AsOf is %q; write the day as 2006-01-02", c.AsOf)
	}
	return k.errs
}

func (k *contractCheck) match(m Match) {
	k.failIf(len(m.Hosts) == 0, `Match.Hosts is empty; name a host, or "*" for any`)
	for i, h := range m.Hosts {
		_, problem := parseHost(h)
		k.failIf(problem != "", `Match.Hosts[%d] %q %s; write a host as in api.example.com or 10.0.0.1:8443 (international names as xn--...), *.example.com for those below it, or "*" for any`, i, h, problem)
	}
	if m.Path != "" {
		problem := pathProblem(m.Path)
		k.failIf(problem != "", "Match.Path %q %s", m.Path, problem)
	}
	for i, path := range m.Paths {
		problem := pathProblem(path)
		k.failIf(problem != "", "Match.Paths[%d] %q %s", i, path, problem)
	}
	k.failIf(m.Exact && m.Path == "" && len(m.Paths) == 0, "Match.Exact is set without a path; set Match.Path")
	for i, method := range m.Methods {
		k.failIf(!isToken(method) || method != strings.ToUpper(method), "Match.Methods[%d] %q is not a method; write it in upper case", i, method)
		k.failIf(method == http.MethodConnect, "Match.Methods[%d] is CONNECT, which cannot be repeated; leave it out", i)
	}
	k.header("Match", m.Header, m.HeaderValue)
	k.failIf(strings.EqualFold(m.Header, "Host"), "Match.Header is Host; use Match.Hosts")
	k.failIf(secretHeader(m.Header), "Match.Header is %s, which the journal does not keep; after a restart nothing would match", m.Header)
	k.operation(m.Operation)
	k.failIf(m.Idempotent > IdempotentNo, "Match.Idempotent is %d; use one of the Idempotent constants", m.Idempotent)
	k.failIf(m.Safe && m.Idempotent == IdempotentNo, "Match.Safe and IdempotentNo contradict each other; what changes nothing may be repeated")
}

func (k *contractCheck) carrier(c Carrier) {
	k.failIf(c.Quoted && c.Kind != CarrierHeader, "Carrier.Quoted is set and Carrier.Kind is not CarrierHeader; leave it out")
	switch c.Kind {
	case CarrierNone:
		k.failIf(c.Name != "", "Carrier.Name is set without a Kind; set Carrier.Kind")
	case CarrierHeader:
		k.failIf(!isToken(c.Name), "Carrier.Name %q is not a header name; write it as in Idempotency-Key", c.Name)
		k.failIf(takenHeader(c.Name), "Carrier.Name is %s, which has a meaning of its own in HTTP; a key cannot travel in it", c.Name)
	case CarrierPath:
		k.failIf(!validPath(strings.Replace(c.Name, "{key}", "key", 1)) || !strings.Contains(c.Name+"/", "/{key}/"), "Carrier.Name %q is not a path with a segment {key}", c.Name)
	case CarrierXML:
		names := strings.Split(c.Name, "/")
		k.failIf(len(names) < 3 || names[0] != "" || !allXMLNames(names[1:]), "Carrier.Name %q is not a path of elements; write it as in /Request/Reference", c.Name)
	case CarrierJSON, CarrierForm, CarrierQuery:
		k.place("Carrier", c.Kind, c.Name)
	default:
		k.failIf(true, "Carrier.Kind is %d; use one of the Carrier constants", c.Kind)
	}
}

// takenHeader reports whether a header frames the message, routes it, or is a
// credential: net/http writes it by itself, intermediaries drop it, or the
// journal does not keep it.
func takenHeader(name string) bool {
	return slices.ContainsFunc(takenHeaders(), func(s string) bool { return strings.EqualFold(s, name) })
}

func takenHeaders() []string {
	return []string{
		"Authorization", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie", "Expect", "Host",
		"Keep-Alive", "Proxy-Authorization", "Proxy-Connection", "TE", "Trailer", "Transfer-Encoding", "Upgrade",
	}
}

func (k *contractCheck) key(r KeyRule) {
	before := len(k.errs)
	k.failIf(r.Min < 0, "Key.Min is %d; it cannot be negative, zero means %d", r.Min, leastKey)
	k.failIf(r.Max < 0, "Key.Max is %d; it cannot be negative, zero means %d", r.Max, mostKey)
	least, most := r.lengths()
	k.failIf(r.Max >= 0 && least > most, "Key.Min is %d and Key.Max %d (zero means %d and %d); make Min the smaller", r.Min, r.Max, leastKey, mostKey)
	for i := range len(r.Alphabet) {
		if !safeKeyByte(r.Alphabet[i]) {
			k.failIf(true, "Key.Alphabet has the byte %q, which does not come through a header unchanged; leave it out", r.Alphabet[i:i+1])
			break
		}
	}
	k.failIf(r.UUID > UUIDRandom, "Key.UUID is %d; use one of the UUID constants", r.UUID)
	k.failIf(r.Need > NeedAll, "Key.Need is %d; use one of the Need constants", r.Need)
	k.failIf(r.Form > FormLong, "Key.Form is %d; use one of the Form constants", r.Form)
	if len(k.errs) > before {
		return
	}
	k.failIf(r.UUID != UUIDNone && r.Form == FormLong, "Key.UUID asks for a UUID and Key.Form makes none; choose another")
	k.failIf(r.UUID == UUIDRandom && r.Form == FormDerived, "Key.UUID asks for a random UUID and Key.Form makes none; choose another")
	length, bytes := r.Form.spelling()
	k.failIf(length < least || length > most, "a key made by Key.Form has %d bytes and Key allows %d to %d; choose another Form or mend Min and Max", length, least, most)
	for i := range len(bytes) {
		if !r.allows(bytes[i]) {
			k.failIf(true, "Key.Alphabet lacks %q, which a key made by Key.Form may hold; choose another Form or mend the alphabet", bytes[i])
			break
		}
	}
}

// batch checks a carrier in every item of an array: the item's number is part of
// its key.
func (k *contractCheck) batch(c *Contract) {
	if !c.Carrier.spot().batch() {
		return
	}
	k.failIf(strings.HasSuffix(c.Carrier.Name, "/*"), "Carrier.Name %q has a * that is not above a field; name the field in the item", c.Carrier.Name)
	k.failIf(strings.Count(c.Carrier.Name+"/", "/*/") > 1 || strings.Contains(c.Carrier.Name+"/", "/*/*/"), "Carrier.Name %q has more than one *", c.Carrier.Name)
	if c.Key.UUID == UUIDAny && c.Key.Form == FormUUID {
		return // an item's key is as long and of the same bytes
	}
	k.failIf(c.Key.UUID != UUIDNone, "Key.UUID and Carrier.Name with a * agree only as UUIDAny and FormUUID: an item's key follows from the intent's; change one")
	length, _ := c.Key.Form.spelling()
	_, most := c.Key.lengths()
	k.failIf(length <= most && length+len("-99") > most, "Key.Max leaves no room for the number of an item, as in -99; choose another Form or mend Max")
	for _, b := range []byte("-0123456789") {
		if !c.Key.allows(b) {
			k.failIf(true, "Key.Alphabet lacks %q, which the key of an item has", b)
			break
		}
	}
}

func (k *contractCheck) window(c *Contract) {
	w, hasKey := c.Window, c.Carrier.Kind != CarrierNone
	switch w.Kind {
	case WindowFloor, WindowExact, WindowAccount:
		k.failIf(w.Length < 0, "Window.Length is %v; it cannot be negative", w.Length)
		k.failIf(w.Length == 0 && hasKey, "Window.Length is zero; say how long the API remembers a key, or set Window.Kind to WindowUnknown")
	case WindowUnknown, WindowForever:
		k.failIf(w.Length != 0, "Window.Length is %v and Window.Kind says that there is none; leave out one of them", w.Length)
	default:
		k.failIf(true, "Window.Kind is %d; use one of the Window constants", w.Kind)
	}
	k.failIf(w.Anchor > AnchorStamp, "Window.Anchor is %d; use one of the Anchor constants", w.Anchor)
	k.failIf(w.After > ExpiryRefuses, "Window.After is %d; use one of the Expiry constants", w.After)
	k.failIf(w.Anchor == AnchorStamp && !slices.ContainsFunc(c.Companions, func(m Companion) bool {
		return m.Value == CompanionSentIMF || m.Value == CompanionSentMicros
	}), "Window.Anchor is AnchorStamp and no companion tells a time; add one to Companions")
}

func (k *contractCheck) marker(field string, m Marker, c *Contract) {
	for i, h := range m.Headers {
		k.failIf(!isToken(h), "%s.Headers[%d] %q is not a header name", field, i, h)
	}
	for i, p := range m.At {
		k.pointer(fmt.Sprintf("%s.At[%d]", field, i), p)
		k.failIf(p == "", "%s.At[%d] names the whole body; name a place in it", field, i)
	}
	located := len(m.Headers) > 0 || len(m.At) > 0
	k.failIf(!located && len(m.Values) > 0, "%s.Values is set and nothing says where they stand; set Headers or At", field)
	k.failIf(!located && m.Echo, "%s.Echo is set and nothing says where the key stands; set Headers or At", field)
	k.failIf(m.Echo && c.Carrier.Kind == CarrierNone, "%s.Echo is set and Carrier is not; no key comes back that was not sent", field)
	k.failIf(m.Echo && len(m.Values) > 0, "%s.Echo and %s.Values are both set; leave out one", field, field)
	k.statuses(field+".Status", m.Status)
}

func (k *contractCheck) answer(field string, a Answer) {
	k.failIf(len(a.Status) == 0 && a.Header == "" && len(a.Codes) == 0, "%s matches every answer; set Status, Header or Codes", field)
	k.statuses(field+".Status", a.Status)
	k.failIf(slices.ContainsFunc(a.Status, func(s int) bool { return s/100 == 1 }) && a.Verdict != VerdictInProgress && a.Verdict != VerdictUnknown,
		"%s.Status has an interim status (1xx), after which anything may happen; only VerdictInProgress and VerdictUnknown fit it", field)
	k.header(field, a.Header, a.HeaderValue)
	for i, p := range a.At {
		k.pointer(fmt.Sprintf("%s.At[%d]", field, i), p)
	}
	k.failIf(len(a.At) > 0 && len(a.Codes) == 0, `%s.At is set without Codes; set them ("*" is any)`, field)
	for i, code := range a.Codes {
		k.code(fmt.Sprintf("%s.Codes[%d]", field, i), code)
	}
	k.failIf(a.Verdict > VerdictKeysDown, "%s.Verdict is %d; use one of the Verdict constants", field, a.Verdict)
	k.pointer(field+".Reference", a.Reference)
	k.failIf(a.Reference != "" && a.Verdict != VerdictDone, "%s.Reference is set and the verdict is not VerdictDone; leave it out", field)
}

func (k *contractCheck) statuses(field string, statuses []int) {
	for _, status := range statuses {
		k.failIf(status < 100 || status > 999, "%s has %d; a status is 100 to 999", field, status)
	}
}

func (k *contractCheck) stored(c *Contract) {
	s := c.Stored
	k.failIf(s.Settle < 0, "Stored.Settle is %v; it cannot be negative, zero means not known", s.Settle)
	k.failIf(s.Failures > KeepingNo, "Stored.Failures is %d; use one of the Keeping constants", s.Failures)
	k.failIf(s.Repeat > RepeatError, "Stored.Repeat is %d; use one of the Repeat constants", s.Repeat)
	k.statuses("Stored.Except", s.Except)
	k.failIf(s.Repeat == RepeatError && !slices.ContainsFunc(c.Answers, func(a Answer) bool { return a.Verdict == VerdictDone }),
		"Stored.Repeat is RepeatError and no rule of Answers has VerdictDone; without it a success would be told as a refusal")
}

func (k *contractCheck) compared(c Compared) {
	k.failIf(c.Parts >= PartBytes<<1, "Compared.Parts is %d; join the Part constants", c.Parts)
	k.failIf(c.Mismatch > MismatchDrops, "Compared.Mismatch is %d; use one of the Mismatch constants", c.Mismatch)
	for i, h := range c.Headers {
		k.failIf(!isToken(h), "Compared.Headers[%d] %q is not a header name", i, h)
		k.failIf(secretHeader(h), "Compared.Headers[%d] %q looks like a credential, which is never recorded; leave it out, and see Pin", i, h)
	}
	for i, p := range c.Except {
		k.pointer(fmt.Sprintf("Compared.Except[%d]", i), p)
		k.failIf(p == "", "Compared.Except[%d] names the whole body; name the fields in it", i)
	}
}

func (k *contractCheck) hints(h Hints) {
	for i, hint := range h.Headers {
		field := fmt.Sprintf("Hints.Headers[%d]", i)
		k.failIf(!isToken(hint.Header), "%s.Header %q is not a header name", field, hint.Header)
		k.failIf(hint.Kind > HintRFC3339, "%s.Kind is %d; use one of the Hint constants", field, hint.Kind)
		k.failIf(hint.AbsentNo && hint.Kind != HintAgain, "%s.AbsentNo is set and Kind is not HintAgain; leave it out", field)
	}
	k.failIf(h.Least < 0, "Hints.Least is %v; it cannot be negative", h.Least)
	k.failIf(h.Running < 0, "Hints.Running is %v; it cannot be negative, zero means the whole window", h.Running)
}

// code checks a pattern as of Answer.Codes.
func (k *contractCheck) code(field, code string) {
	core := strings.TrimSuffix(strings.TrimPrefix(code, "*"), "*")
	k.failIf(code == "" || strings.Contains(core, "*"), "%s %q is empty or has a * inside; put it first or last", field, code)
	k.failIf(code != strings.TrimSpace(code), "%s %q has white space around it, which is not read; leave it out", field, code)
}

// header checks an optional condition on a header.
func (k *contractCheck) header(field, name, value string) {
	k.failIf(name != "" && !isToken(name), "%s.Header %q is not a header name", field, name)
	k.failIf(name == "" && value != "", "%s.HeaderValue is set without Header; name the header", field)
	k.failIf(strings.ContainsFunc(value, unicode.IsControl), "%s.HeaderValue has control characters, which no header carries", field)
}

func (k *contractCheck) pointer(field, pointer string) {
	problem := pointerProblem(pointer)
	k.failIf(problem != "", "%s %q is not a JSON pointer (RFC 6901): it %s", field, pointer, problem)
}

// isToken reports whether s is a token, as header names and methods are (RFC
// 9110 section 5.6.2).
func isToken(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !('0' <= c && c <= '9' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0) {
			return false
		}
	}
	return s != ""
}
