package oncehttp

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// signed says that a request was signed before we saw it.
type signed struct {
	// by names the header or parameter that holds the signature, or the digest of
	// the body. Empty: it was not signed.
	by string
	// kept: the journal keeps it, so that it is the same at every attempt.
	kept bool
}

// digestHeaders speak of the body: RFC 9530, RFC 3230, RFC 1864, and AWS's, where
// UNSIGNED-PAYLOAD says that it is not signed.
var digestHeaders = []string{"Content-Digest", "Repr-Digest", "Digest", "Content-Md5", "X-Amz-Content-Sha256"}

// signedBy looks for a signature by name: it may cover the body, the path and the
// query, and nobody can tell which. A wrong yes asks the caller to sign later; a
// wrong no is an answer of the API that the signature does not fit.
func signedBy(h http.Header, u *url.URL) signed {
	for _, name := range digestHeaders {
		if values := headerValues(h, name); values != nil && !slices.Equal(values, []string{"UNSIGNED-PAYLOAD"}) {
			return signed{by: "header " + name, kept: true}
		}
	}
	for _, piece := range queryPieces(u.RawQuery) {
		name, _, _ := strings.Cut(piece, "=")
		if plain, err := url.QueryUnescape(name); err == nil && signatureName(plain) {
			return signed{by: "query parameter " + plain}
		}
	}
	found := signed{}
	for name, values := range h {
		if !signatureName(name) && !(strings.EqualFold(name, "Authorization") && slices.ContainsFunc(values, signatureScheme)) {
			continue
		}
		if name = "header " + http.CanonicalHeaderKey(name); found.by == "" || name < found.by {
			found.by = name
		}
	}
	return found
}

// signatureName reports whether a header or a parameter of this name holds a
// signature, as Signature (RFC 9421), X-Amz-Signature, Tl-Signature and X-Sign do.
func signatureName(name string) bool {
	if strings.Contains(plainName(name), "signature") {
		return true
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(name), notAlphanumeric) {
		if word == "sign" || word == "sig" || word == "hmac" {
			return true
		}
	}
	return false
}

// signatureScheme reports whether credentials are made for one request: those of
// AWS, of Azure's shared keys, of OAuth 1 (RFC 5849), RFC 7616, and all that names
// HMAC.
func signatureScheme(credentials string) bool {
	scheme, _, _ := strings.Cut(strings.ToLower(credentials), " ")
	switch scheme {
	case "aws", "signature", "sharedkey", "sharedkeylite", "oauth", "digest", "hawk":
		return true
	}
	return strings.HasPrefix(scheme, "aws4-") || strings.Contains(scheme, "hmac")
}
