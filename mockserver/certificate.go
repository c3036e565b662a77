package mockserver

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"time"
)

// hostName is the host of a server in memory, and the name in certificates.
const hostName = "mockserver.test"

// newTLS makes both sides of TLS under a certificate of its own, valid at any
// time that a test's clock may show. The client's side asks for hostName
// whatever host it dials.
func newTLS(http2 bool) (server, client *tls.Config) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic("mockserver: cannot make a key: " + err.Error())
	}
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: hostName},
		DNSNames:              []string{hostName},
		NotBefore:             time.Date(1990, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2120, 1, 1, 0, 0, 0, 0, time.UTC),
		BasicConstraintsValid: true,
		IsCA:                  true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		panic("mockserver: cannot make a certificate: " + err.Error())
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		panic("mockserver: cannot read the certificate just made: " + err.Error())
	}
	roots := x509.NewCertPool()
	roots.AddCert(leaf)
	protocol := "http/1.1"
	if http2 {
		protocol = "h2"
	}
	server = &tls.Config{
		Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}},
		NextProtos:   []string{protocol},
	}
	client = &tls.Config{RootCAs: roots, ServerName: hostName}
	return server, client
}
