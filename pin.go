package oncehttp

import (
	"encoding/hex"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"
)

// credential is the print of a request's credentials, where the contract pins
// them. It is an error if what may have taken effect had others: under these the
// API knows another key, or none, and what it says of that proves nothing.
func (r record) credential(contract *Contract, req *http.Request) (string, error) {
	if !r.pinned(contract) {
		return "", nil
	}
	credential := credentialPrint(r.ID, req)
	if first := r.Begun.Credential; (r.Exposed || r.Incomplete) && first != "" && first != credential {
		return "", &ownError{text: fmt.Sprintf("oncehttp: the API knows a key together with the credentials it came with, and these are not those that action %s was first sent with; bring them back", quoteAction(r.Action))}
	}
	return credential, nil
}

// credentialPrint tells the credentials of one attempt from those of another.
// What counts is what stays from attempt to attempt: see lastingAuthorization
// and lastingName. Its 16 bits are enough to see that a credential has changed,
// and too few to find out one that could be guessed.
func credentialPrint(id uuid.UUID, req *http.Request) string {
	var lasting []string
	keep := func(name, value string) {
		if value != "" {
			lasting = append(lasting, name+"\x00"+value)
		}
	}
	for name, values := range req.Header {
		plain := plainName(name)
		for _, v := range values {
			switch {
			case plain == "authorization":
				keep(plain, lastingAuthorization(v))
			case secretHeader(name) && lastingName(plain):
				keep(plain, strings.TrimSpace(v))
			}
		}
	}
	if req.URL != nil {
		for _, piece := range queryPieces(req.URL.RawQuery) {
			name, secret := secretPiece(piece, nil)
			switch plain := plainName(name); {
			case !secret:
			case strings.HasSuffix(plain, "credential"):
				keep(plain, scopeless(piece))
			case lastingName(plain):
				keep(plain, piece)
			}
		}
	}
	slices.Sort(lasting)
	return hex.EncodeToString(keyedDigest(id[:], strings.Join(lasting, "\x00"))[:2])
}

// lastingName: an API key, a token or a password; not what a session, a form or
// one signature changes.
func lastingName(plain string) bool {
	ends := func(end string) bool { return strings.HasSuffix(plain, end) }
	return slices.ContainsFunc([]string{"key", "token", "secret", "password"}, ends) &&
		!slices.ContainsFunc([]string{"csrf", "xsrf", "session", "security"}, func(s string) bool { return strings.Contains(plain, s) })
}

// lastingAuthorization is what stays of the value of Authorization: the whole
// of Basic, Bearer and other schemes that carry a secret; of one that carries a
// signature the name of its key; "" where that has none.
func lastingAuthorization(value string) string {
	value = strings.TrimSpace(value)
	scheme, text, ok := strings.Cut(value, " ")
	if !ok || strings.EqualFold(scheme, "Basic") || strings.EqualFold(scheme, "Bearer") {
		return value
	}
	name, rest, params := strings.Cut(text, "=")
	if params = params && isToken(strings.TrimSpace(name)) && strings.Trim(rest, "=") != ""; !params {
		id, _, signed := strings.Cut(text, ":") // AWS id:signature, SharedKey account:signature
		if signed {
			return id
		}
		return value
	}
	var ids []string
	for param := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == ',' || r == ';' || r == ' ' }) {
		name, v, _ := strings.Cut(param, "=")
		switch strings.ToLower(name) {
		case "credential", "keyid", "id", "username", "oauth_consumer_key", "oauth_token", "client_token", "access_token", "token":
			ids = append(ids, name+"="+scopeless(strings.Trim(v, `"`)))
		}
	}
	return strings.Join(ids, ",")
}

// scopeless is a credential of AWS's signatures without its date and scope,
// whose slashes a query may escape.
func scopeless(credential string) string {
	id, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(credential, "%2F", "/"), "%2f", "/"), "/")
	return id
}
