package oncehttp

import (
	"crypto/tls"
	"net"
	"net/http"
)

// newTransport is the base of a client that was lent none.
func newTransport() *http.Transport {
	t := &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: new(net.Dialer).DialContext, ForceAttemptHTTP2: true}
	if def, ok := http.DefaultTransport.(*http.Transport); ok {
		t = def.Clone()
	}
	if t.DialContext != nil {
		t.DialContext = WatchWrites(t.DialContext)
	}
	return t
}

// freshLike makes a connection for each request. Of TLS it resumes what it can:
// that spares the certificates' proof, not the round trip.
func freshLike(t *http.Transport) *http.Transport {
	fresh := t.Clone()
	fresh.DisableKeepAlives = true
	if fresh.TLSClientConfig == nil {
		fresh.TLSClientConfig = &tls.Config{}
	}
	if fresh.TLSClientConfig.ClientSessionCache == nil && fresh.TLSClientConfig.VerifyPeerCertificate == nil { // it is not called on resumption
		fresh.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	return fresh
}
