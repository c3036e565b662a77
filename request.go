package oncehttp

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// A draft is a request frozen at its first sight: what goes into the record,
// and what must not.
type draft struct {
	begun begun
	body  []byte
	// live holds the credentials of this call, which are sent and never kept.
	live live
	// signed says what was signed above us.
	signed signed
}

// live is what a caller's request has and the journal does not.
type live struct {
	header http.Header
	url    *url.URL
}

func checkAction(action string) error {
	if action == "" || len(action) > 1024 || !utf8.ValidString(action) || strings.ContainsFunc(action, unicode.IsControl) {
		return ErrInvalidAction
	}
	return nil
}

// checkRequest finds what no attempt could send, before anything is written.
// What net/http refuses without reporting a connection would else look as if
// it might have been sent.
func checkRequest(req *http.Request) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: "+format, append([]any{ErrInvalidRequest}, args...)...)
	}
	switch {
	case req == nil:
		return bad("it is nil")
	case req.URL == nil:
		return bad("it has no URL")
	case req.URL.Scheme != "http" && req.URL.Scheme != "https":
		return bad("its URL's scheme is %.16q: want http or https", req.URL.Scheme)
	case req.URL.Host == "" || req.URL.Hostname() == "":
		return bad("its URL names no host")
	case req.URL.Opaque != "":
		return bad("its URL is opaque: want scheme://host/path")
	case req.Method != "" && !isToken(req.Method):
		return bad("its method is not a token (RFC 9110 section 9.1)")
	case req.Method == http.MethodConnect:
		return bad("CONNECT is not an action: send it through the transport")
	case len(req.Trailer) > 0:
		return bad("it has trailers, which cannot be frozen: drop them")
	case strings.ContainsAny(req.Host, "/\\?#@ \t\r\n"):
		return bad("its Host is not a host")
	}
	switch u, err := url.Parse(req.URL.String()); { // the record keeps it as text
	case err != nil:
		return bad("its URL does not parse: is its host one?")
	case u.RawQuery != req.URL.RawQuery:
		return bad("its URL's query holds a #, which ends it: write %%23")
	}
	if fault := headerFault(req.Header); fault != "" {
		return bad("%s", fault)
	}
	return nil
}

// headerFault says why net/http would not send a header; empty: it would.
func headerFault(h http.Header) string {
	for name, values := range h {
		if !isToken(name) {
			return "a header's name is not a token (RFC 9110 section 5.1)"
		}
		for _, v := range values {
			if strings.ContainsFunc(v, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }) {
				return fmt.Sprintf("header %s holds a control character", name)
			}
		}
	}
	// Over HTTP/2 net/http refuses these on a connection that it has got.
	if strings.Join(headerValues(h, "Upgrade"), "") != "" {
		return "header Upgrade asks for another protocol: send it through the transport"
	}
	if values := headerValues(h, "Connection"); len(values) > 1 || len(values) == 1 && !ownConnection(values[0]) {
		return "header Connection says more than close or keep-alive: drop it"
	}
	return ""
}

func ownConnection(value string) bool {
	return value == "" || strings.EqualFold(value, "close") || strings.EqualFold(value, "keep-alive")
}

// freeze reads the request, once and whole, and closes its body. A header that
// carries the key is not part of what is frozen. Of the contract, which may be
// nil, the draft has all but the key.
func freeze(ctx context.Context, req *http.Request, contract *Contract, limit int64) (draft, error) {
	body, err := readBody(ctx, req, limit)
	if err != nil {
		return draft{}, err
	}
	given, at := req.Header, *req.URL
	d := draft{body: body, live: live{header: http.Header{}, url: &at}}
	if contract != nil {
		d.begun.Contract, d.begun.Carrier, d.begun.Companions = contract.Name, contract.Carrier, contract.Companions
	}
	if d.begun.Carrier.Kind == CarrierHeader {
		given = maps.Clone(given)
		dropHeader(given, d.begun.Carrier.Name)
	}
	header, stripped := stripHeader(given, d.begun.headers()...)
	for name, values := range given {
		if name = http.CanonicalHeaderKey(name); slices.Contains(stripped, name) {
			d.live.header[name] = append(d.live.header[name], values...)
		}
	}
	if user := req.URL.User; user != nil && d.live.header.Get("Authorization") == "" {
		// As http.Client does: userinfo becomes Basic Authorization (RFC 7617).
		password, _ := user.Password()
		basic := http.Request{Header: d.live.header}
		basic.SetBasicAuth(user.Username(), password)
	}
	kept, params := stripURL(req.URL, d.begun.params()...)
	d.begun.Method, d.begun.Host = cmp.Or(req.Method, http.MethodGet), cmp.Or(req.Host, req.URL.Host)
	d.begun.URL, d.begun.Header = kept.String(), header
	d.begun.Stripped, d.begun.Size = union(stripped, params), len(body)
	d.signed = signedBy(given, req.URL)
	for _, name := range []string{"Content-Length", "Transfer-Encoding", "Host"} {
		dropHeader(header, name) // net/http takes these from the request's fields
	}
	return d, nil
}

// dropHeader drops a header however its name is spelled: field names have no
// case (RFC 9110 section 5.1), keys of a Go map have.
func dropHeader(h http.Header, name string) {
	maps.DeleteFunc(h, func(spelled string, _ []string) bool { return strings.EqualFold(spelled, name) })
}

func union(a, b []string) []string {
	all := append(slices.Clone(a), b...)
	slices.Sort(all)
	return slices.Compact(all)
}

// readBody reads at most limit+1 bytes, ends when the context does, and closes
// the body exactly once.
func readBody(ctx context.Context, req *http.Request, limit int64) ([]byte, error) {
	wrongLength := func(n int64) error {
		return fmt.Errorf("%w: its body has %d bytes and its ContentLength says %d", ErrInvalidRequest, n, req.ContentLength)
	}
	switch none := req.Body == nil || req.Body == http.NoBody; {
	case none && req.ContentLength > 0:
		return nil, wrongLength(0)
	case none:
		return nil, nil
	}
	closed := sync.OnceFunc(func() { req.Body.Close() })
	defer closed()
	if req.ContentLength > limit {
		return nil, fmt.Errorf("%w (%d bytes of %d)", ErrBodyTooLarge, req.ContentLength, limit)
	}
	defer context.AfterFunc(ctx, closed)() // a reader that blocks ends when its body is closed
	buf := bytes.NewBuffer(make([]byte, 0, max(0, req.ContentLength)+bytes.MinRead))
	n, err := buf.ReadFrom(io.LimitReader(req.Body, limit+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, fmt.Errorf("%w: its body could not be read: %w", ErrInvalidRequest, newCause(err))
	case n > limit:
		return nil, fmt.Errorf("%w (%d bytes)", ErrBodyTooLarge, limit)
	case req.ContentLength > 0 && n != req.ContentLength:
		return nil, wrongLength(n)
	}
	return buf.Bytes(), nil
}

// closeBody is for a request that is refused before it is read.
func closeBody(req *http.Request) {
	if req != nil && req.Body != nil {
		req.Body.Close()
	}
}

// payload is what is compared: without the key, which is the same action's
// whatever it is, without what goes with it, and without what stands in other
// spots.
func (b begun) payload(body []byte, others ...spot) payload {
	for _, s := range append(b.spots(), others...) {
		body = s.erase(&b, body)
	}
	return payload{Method: b.Method, URL: b.URL, Host: b.Host, Header: b.Header, Body: body}
}

// request makes the request of one attempt: the frozen one, to where a redirect
// led if it did, with the key, and with the credentials that live has.
// Authorize may still add to it.
func (r record) request(body []byte, live live, hop string) (*http.Request, error) {
	u, err := url.Parse(r.Begun.sentURL(hop))
	if err != nil {
		return nil, &ownError{fmt.Sprintf("oncehttp: action %s has a URL that does not parse", quoteAction(r.Action)), ErrJournalCorrupt}
	}
	if live.url != nil && hop == "" {
		u = restoreQuery(u, live.url, r.Begun.params()...)
	}
	header := r.Begun.Header.Clone()
	if header == nil {
		header = http.Header{}
	}
	for _, name := range r.Begun.Stripped {
		if values, ok := live.header[name]; ok {
			header[name] = slices.Clone(values)
		}
	}
	maps.Copy(header, r.Begun.sentHeader())
	req := &http.Request{
		Method: r.Begun.Method, URL: u, Host: r.Begun.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: http.NoBody, ContentLength: int64(len(body)),
	}
	if len(body) > 0 {
		req.Body = io.NopCloser(bytes.NewReader(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	return req, nil
}

// authorized compares a request that Authorize has seen with the record:
// everything frozen is as it was, and every stripped name is back. It returns
// the names of what it carries and the journal does not. missing is set when
// nothing is wrong but a credential is not there.
func (r record) authorized(req *http.Request, hop string) (stripped []string, missing string, err error) {
	changed := func(what string) ([]string, string, error) {
		return nil, "", &ownError{text: fmt.Sprintf("oncehttp: Authorize changed %s of action %s; it may only add headers and credentials", what, quoteAction(r.Action))}
	}
	if req.URL == nil {
		return changed("the URL")
	}
	ours := r.Begun.params()
	kept, params := stripURL(req.URL, ours...)
	target := r.Begun.sentURL(hop)
	if u, err := url.Parse(target); hop != "" && err == nil {
		u, _ = stripURL(u, ours...)
		target, params = u.String(), nil
		for _, name := range r.Begun.Stripped {
			if strings.HasPrefix(name, "query:") {
				params = append(params, name) // the redirect says what the query is
			}
		}
	}
	var added []string
	sent := r.Begun.sentHeader()
	for name := range req.Header {
		_, frozen := r.Begun.Header[name]
		if _, ours := sent[http.CanonicalHeaderKey(name)]; !frozen && !ours {
			added = append(added, http.CanonicalHeaderKey(name))
		}
	}
	host := req.Host
	if host == "" {
		host = req.URL.Host
	}
	switch {
	case req.Method != r.Begun.Method:
		return changed("the method")
	case kept.String() != target:
		return changed("the URL")
	case host != r.Begun.Host:
		return changed("the Host")
	case req.ContentLength != int64(r.Begun.Size):
		return changed("the body's length")
	case len(req.TransferEncoding) > 0 || len(req.Trailer) > 0:
		return changed("the body's framing")
	}
	for name, values := range sent {
		if slices.Equal(headerValues(req.Header, name), values) {
			continue
		}
		if key, _ := r.Begun.keyHeader(); strings.EqualFold(name, key) {
			return changed("the key")
		}
		return changed("header " + name + ", which goes with the key")
	}
	for name, values := range r.Begun.Header {
		if !slices.Equal(req.Header[name], values) {
			return changed("header " + name)
		}
	}
	stripped = union(added, params)
	for _, name := range r.Begun.Stripped {
		if !slices.Contains(stripped, name) {
			return nil, name, nil
		}
	}
	return stripped, "", nil
}

// redirectTarget is where a 307 or 308 leads if that is the same origin (RFC
// 6454 section 5); else empty: it is not followed.
func redirectTarget(from *url.URL, status int, h http.Header) string {
	location := h.Get("Location")
	if status != http.StatusTemporaryRedirect && status != http.StatusPermanentRedirect || location == "" {
		return ""
	}
	to, err := from.Parse(location)
	if err != nil || to.User != nil || to.Scheme != from.Scheme || !strings.EqualFold(authority(to), authority(from)) {
		return ""
	}
	to.Fragment, to.RawFragment = "", ""
	return to.String()
}

// authority is host and port, the default port included.
func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return strings.ToLower(u.Hostname()) + ":" + port
}
