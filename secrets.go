package oncehttp

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// What a credential is, for every place that must not hold one: the journal,
// logs, events, errors, metrics.
//
// A name decides, never a value. A wrong yes costs little: the value travels,
// but outside the fingerprint, and after a restart the intent waits until
// Authorize brings it back. A wrong no writes a secret to disk. So headers,
// which seldom hold the business of a request, are judged harshly, and query
// parameters, which often do, with more care.

// secretParts are credentials wherever they stand in a name that is written
// without its separators.
var secretParts = []string{
	"token", "secret", "signature", "password", "passwd", "passphrase", "passcode",
	"credential", "session", "sessid", "cookie", "authoriz", "authentic", "bearer",
	"apikey", "accesskey", "privatekey", "subscriptionkey", "encryptionkey",
}

// secretWords are credentials as a word of a name; as a part they would be found
// in author, design or cryptography.
var secretWords = []string{"auth", "sig", "sign", "hmac", "jwt", "pwd", "otp", "totp", "assertion"}

// identifierEnds are ends of names that look like credentials and are not:
// idempotency keys of several makes, and keys of caches, queues and handshakes.
var identifierEnds = []string{
	"retrytoken", "requesttoken", "creationtoken", "deduplicationtoken", "deduplicationkey", "dedupkey",
	"requestkey", "cachekey", "surrogatekey", "routingkey", "partitionkey", "sortkey", "messagekey",
	"orderingkey", "publickey", "websocketkey",
}

// secretHeader reports whether a header of this name carries a credential. Any
// header whose name ends in "key" does, but for an idempotency key and the like.
func secretHeader(name string) bool {
	plain := plainName(name)
	if identifierName(plain) {
		return false
	}
	switch plain {
	case "dpop", "xhoneycombteam":
		return true
	}
	return secretName(name, plain) || strings.HasSuffix(plain, "key")
}

// secretParam reports whether a query parameter of this name carries a
// credential. A name that ends in "key" does so only where the word before says
// what the key opens, or where it is the whole name (Google's APIs): order_key
// and issueKey say what the request is about. "code" does not, though an OAuth
// code and a function key of Azure travel under it: it is as often a coupon, and
// both have another way (token requests are passed through; x-functions-key).
func secretParam(name string) bool {
	plain := plainName(name)
	if identifierName(plain) {
		return false
	}
	switch plain {
	case "clienttoken", // idempotency token of AWS query APIs
		"pagetoken", "nextpagetoken", "nexttoken", "continuationtoken", "synctoken":
		return false
	case "key", "pass":
		return true
	}
	opener, isKey := strings.CutSuffix(plain, "key")
	return secretName(name, plain) || isKey && slices.ContainsFunc([]string{
		"account", "admin", "app", "application", "auth", "client", "consumer", "customer", "function", "functions",
		"hapi", "license", "master", "server", "service", "shared", "signing", "write",
	}, func(word string) bool { return strings.HasSuffix(opener, word) })
}

func identifierName(plain string) bool {
	return strings.Contains(plain, "idempot") ||
		slices.ContainsFunc(identifierEnds, func(end string) bool { return strings.HasSuffix(plain, end) })
}

func secretName(name, plain string) bool {
	if slices.ContainsFunc(secretParts, func(s string) bool { return strings.Contains(plain, s) }) {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), notAlphanumeric) {
		if slices.Contains(secretWords, word) {
			return true
		}
	}
	return false
}

// plainName is a name in lower case without separators.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		if r = unicode.ToLower(r); isAlphanumeric(r) {
			return r
		}
		return -1
	}, name)
}

func isAlphanumeric(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }

func notAlphanumeric(r rune) bool { return !isAlphanumeric(r) }

// stripHeader returns a copy of h without credentials, and the canonical names
// of those that it left out, sorted. What goes with a key, which ours names, is
// no credential.
func stripHeader(h http.Header, ours ...string) (kept http.Header, names []string) {
	kept = make(http.Header, len(h))
	for name, values := range h {
		if secretHeader(name) && !slices.Contains(ours, http.CanonicalHeaderKey(name)) {
			names = append(names, http.CanonicalHeaderKey(name))
		} else {
			kept[name] = slices.Clone(values)
		}
	}
	slices.Sort(names)
	return kept, slices.Compact(names)
}

// queryName begins the name of a stripped query parameter.
const queryName = "query:"

// stripURL returns a copy of u without userinfo, fragment (neither is sent in a
// URL) and credential parameters, and the sorted names of the credentials left
// out: "Authorization" for userinfo, since net/http sends it so, and
// "query:api_key" for a parameter. What remains of the raw query keeps its order
// and spelling. Parameters that hold a key, which ours names, are no credentials.
func stripURL(u *url.URL, ours ...string) (kept *url.URL, names []string) {
	k := *u
	if u.User != nil {
		names = append(names, "Authorization")
	}
	k.User, k.Fragment, k.RawFragment = nil, "", ""
	var rest []string
	for _, piece := range queryPieces(u.RawQuery) {
		if name, secret := secretPiece(piece, ours); secret {
			names = append(names, queryName+name)
		} else {
			rest = append(rest, piece)
		}
	}
	k.RawQuery = strings.Join(rest, "&")
	slices.Sort(names)
	return &k, slices.Compact(names)
}

// restoreQuery returns a copy of kept with the credential parameters of live put
// back where they stand there, counted in other parameters. One that live lacks is
// for Authorize to bring.
func restoreQuery(kept, live *url.URL, ours ...string) *url.URL {
	rest := queryPieces(kept.RawQuery)
	var pieces []string
	for _, piece := range queryPieces(live.RawQuery) {
		if _, secret := secretPiece(piece, ours); secret {
			pieces = append(pieces, piece)
		} else if len(rest) > 0 {
			pieces = append(pieces, rest[0])
			rest = rest[1:]
		}
	}
	k := *kept
	k.RawQuery = strings.Join(append(pieces, rest...), "&")
	return &k
}

func queryPieces(raw string) []string {
	if raw == "" {
		return nil
	}
	return strings.Split(raw, "&")
}

// secretPiece returns the name of the first credential in a piece of a query.
// Some servers take ";" for "&", so a piece may hold several parameters.
func secretPiece(piece string, ours []string) (name string, secret bool) {
	for param := range strings.SplitSeq(piece, ";") {
		name, _, _ = strings.Cut(param, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		if secretParam(name) && !slices.Contains(ours, name) {
			return name, true
		}
	}
	return "", false
}

// keyPrint names a key without showing it: the first 8 hex digits of its SHA-256.
func keyPrint(key string) string {
	sum := sha256.Sum256([]byte(key))
	return hex.EncodeToString(sum[:4])
}
