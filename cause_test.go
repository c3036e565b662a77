package oncehttp

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const foreignCanary = "s3cr3t"

// foreignError is an error type of somebody else with a text of its own.
type foreignError struct{ inner error }

func (e *foreignError) Error() string { return foreignCanary }
func (e *foreignError) Unwrap() error { return e.inner }

type foreignTimeout string

func (e foreignTimeout) Error() string { return string(e) }
func (e foreignTimeout) Timeout() bool { return true }

type foreignCode int

func (e foreignCode) Error() string { return foreignCanary }

type foreignAddr string

func (a foreignAddr) Network() string { return string(a) }
func (a foreignAddr) String() string  { return string(a) }

func TestACauseSaysWhatTheTypesSay(t *testing.T) {
	t.Parallel()
	addr := net.TCPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:80"))
	refused := fmt.Sprintf("%s (errno %d)", syscall.ECONNREFUSED.Error(), int(syscall.ECONNREFUSED))
	for _, c := range []struct {
		want string
		err  error
	}{
		{"dial tcp 127.0.0.1:80: " + refused, &net.OpError{Op: "dial", Net: "tcp", Addr: addr, Err: &os.SyscallError{Syscall: foreignCanary, Err: syscall.ECONNREFUSED}}},
		{"Post: " + refused, &url.Error{Op: "Post", URL: "http://h/" + foreignCanary, Err: syscall.ECONNREFUSED}},
		{refused, &url.Error{Op: foreignCanary, URL: foreignCanary, Err: syscall.ECONNREFUSED}},
		{refused, &net.OpError{Op: foreignCanary, Net: foreignCanary, Addr: foreignAddr(foreignCanary), Err: syscall.ECONNREFUSED}},
		{"dial tcp", &net.OpError{Op: "dial", Net: "tcp"}},
		{"*net.OpError", &net.OpError{Op: foreignCanary}},
		{"open file: " + syscall.ENOENT.Error() + fmt.Sprintf(" (errno %d)", int(syscall.ENOENT)), &fs.PathError{Op: "open", Path: foreignCanary, Err: syscall.ENOENT}},
		{"lookup api.example.com: no such host", &net.DNSError{Err: foreignCanary, Name: "api.example.com", Server: foreignCanary, IsNotFound: true}},
		{"lookup api.example.com: timeout", &net.DNSError{Err: foreignCanary, Name: "api.example.com", IsTimeout: true}},
		{"lookup h: failed for now", &net.DNSError{Name: "h", IsTemporary: true}},
		{"lookup of a host: failed", &net.DNSError{Name: "user:" + foreignCanary + "@h"}},
		{"context canceled", context.Canceled},
		{"context deadline exceeded", fmt.Errorf(foreignCanary+": %w", context.DeadlineExceeded)},
		{"EOF", io.EOF},
		{"read tcp: unexpected EOF", &net.OpError{Op: "read", Net: "tcp", Err: io.ErrUnexpectedEOF}},
		{"TLS certificate refused: unknown authority", &tls.CertificateVerificationError{Err: x509.UnknownAuthorityError{}}},
		{"TLS certificate refused: it is for another host", &tls.CertificateVerificationError{Err: x509.HostnameError{Certificate: &x509.Certificate{}, Host: foreignCanary}}},
		{"TLS certificate refused: it is expired or not yet valid", &tls.CertificateVerificationError{Err: x509.CertificateInvalidError{Reason: x509.Expired, Detail: foreignCanary}}},
		{"it is not valid (x509 reason 4)", x509.CertificateInvalidError{Reason: x509.IncompatibleUsage, Detail: foreignCanary}},
		{"TLS certificate refused: *errors.errorString", &tls.CertificateVerificationError{Err: errors.New(foreignCanary)}},
		{"tls: bad certificate", tls.AlertError(42)},
		{"the answer is not TLS", tls.RecordHeaderError{Msg: foreignCanary}},
		{http.ErrSchemeMismatch.Error(), &url.Error{Op: foreignCanary, Err: http.ErrSchemeMismatch}},
		{"body is over 7 bytes", &http.MaxBytesError{Limit: 7}},
		{"write tcp: use of closed network connection", &net.OpError{Op: "write", Net: "tcp", Err: net.ErrClosed}},
		{"EOF; *errors.errorString; context canceled; and 2 more", errors.Join(io.EOF, errors.New(foreignCanary), context.Canceled, io.EOF, io.EOF)},
		{"EOF; context canceled", fmt.Errorf(foreignCanary+" %w %w", io.EOF, context.Canceled)},
		{"*oncehttp.foreignError", &foreignError{}},
		{"*oncehttp.foreignError: EOF", &foreignError{io.EOF}},
		{"*oncehttp.foreignError", (*foreignError)(nil)},
		{"*url.Error", (*url.Error)(nil)},
		{"oncehttp.foreignTimeout (timeout)", foreignTimeout(foreignCanary)},
		{"oncehttp.foreignCode 7", foreignCode(7)},
		{ErrBodyTooLarge.Error(), fmt.Errorf("%w: %s", ErrBodyTooLarge, foreignCanary)},
		{"Post: EOF", fmt.Errorf("%s: %w", foreignCanary, newCause(&url.Error{Op: "Post", URL: foreignCanary, Err: io.EOF}))},
	} {
		got := newCause(c.err)
		assert.Equal(t, c.want, got.Error())
		assert.Same(t, got, newCause(got), "a cause of a cause is itself")
		assert.NotContains(t, fmt.Sprintf("%v %+v %q", got, got, got), foreignCanary)
		assert.NotContains(t, fmt.Sprintf("%+v", struct{ Err error }{got}), foreignCanary)
	}
}

func TestEverySentinelOfThisPackageKeepsItsText(t *testing.T) {
	t.Parallel()
	for _, err := range []error{
		ErrNotFound, ErrInvalidAction, ErrInvalidRequest, ErrBodyTooLarge, ErrMismatch, ErrClosed, ErrInFlight, ErrPrincipal,
		ErrUnmatched, ErrJournal, ErrJournalLocked, ErrJournalCorrupt, ErrFateUnknown, ErrExists, ErrConflict,
	} {
		assert.EqualError(t, newCause(err), err.Error())
	}
}

func TestTheForeignErrorIsReachedByUnwrapping(t *testing.T) {
	t.Parallel()
	err := newCause(&url.Error{Op: "Post", Err: context.DeadlineExceeded})
	require.ErrorIs(t, err, context.DeadlineExceeded)
	var foreign *url.Error
	require.ErrorAs(t, err, &foreign)
	require.NoError(t, newCause(nil))
}

func TestAfterARestartACauseIsItsText(t *testing.T) {
	t.Parallel()
	text := newCause(&url.Error{Op: "Post", Err: io.EOF}).Error()
	err := causeText(text)
	require.EqualError(t, err, text)
	require.NotErrorIs(t, err, io.EOF)
	require.NoError(t, causeText(""))
}

func TestATreeOfErrorsWithoutEndHasAShortCause(t *testing.T) {
	t.Parallel()
	loop := &foreignError{}
	loop.inner = loop
	assert.Less(t, len(newCause(loop).Error()), 500)
	wide := errors.Join(loop, loop, loop)
	for range 50 {
		wide = errors.Join(wide, wide, wide, wide)
	}
	assert.LessOrEqual(t, len(newCause(wide).Error()), maxCauseText+len("…"))
}

// rawServer answers each connection by serve, and closes it.
func rawServer(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			serve(conn)
			conn.Close()
		}
	}()
	return l.Addr().String()
}

func readRequest(conn net.Conn) {
	if req, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
		io.Copy(io.Discard, req.Body)
	}
}

func TestCausesOfRealFailuresSayWhatHappenedAndHoldNoForeignText(t *testing.T) {
	t.Parallel()
	closed := rawServer(t, func(net.Conn) {})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	refusing := l.Addr().String()
	require.NoError(t, l.Close())
	reset := rawServer(t, func(c net.Conn) { readRequest(c); c.(*net.TCPConn).SetLinger(0) })
	garbage := rawServer(t, func(c net.Conn) { readRequest(c); io.WriteString(c, foreignCanary+" "+foreignCanary+"\r\n\r\n") })
	badHeader := rawServer(t, func(c net.Conn) {
		readRequest(c)
		io.WriteString(c, "HTTP/1.1 200 OK\r\n"+foreignCanary+"\r\n\r\n")
	})
	badStatus := rawServer(t, func(c net.Conn) { readRequest(c); io.WriteString(c, "HTTP/1.1 "+foreignCanary+"\r\n\r\n") })
	quiet := log.New(io.Discard, "", 0)
	plain := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(plain.Close)
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet
	secure.StartTLS()
	t.Cleanup(secure.Close)
	strict := httptest.NewUnstartedServer(http.NotFoundHandler())
	strict.Config.ErrorLog = quiet
	strict.TLS = &tls.Config{ClientAuth: tls.RequireAnyClientCert, MaxVersion: tls.VersionTLS12}
	strict.StartTLS()
	t.Cleanup(strict.Close)
	release := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-release }))
	t.Cleanup(slow.Close)
	t.Cleanup(func() { close(release) })
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New(foreignCanary))
	trusting := func() *tls.Config { return secure.Client().Transport.(*http.Transport).TLSClientConfig.Clone() }

	for _, c := range []struct {
		name, base string
		transport  *http.Transport
		want       string
	}{
		{"refused", "http://" + refusing, &http.Transport{}, "Post: dial tcp " + refusing + ": " + syscall.ECONNREFUSED.Error()},
		{"closed", "http://" + closed, &http.Transport{}, ""},
		{"reset", "http://" + reset, &http.Transport{}, syscall.ECONNRESET.Error()},
		{"not HTTP", "http://" + garbage, &http.Transport{}, "Post: "},
		{"bad header", "http://" + badHeader, &http.Transport{}, "Post: textproto.ProtocolError"},
		{"bad status", "http://" + badStatus, &http.Transport{}, "Post: "},
		{"unknown authority", secure.URL, &http.Transport{}, "Post: TLS certificate refused: unknown authority"},
		{"another host", secure.URL, &http.Transport{TLSClientConfig: func() *tls.Config {
			c := trusting()
			c.ServerName = foreignCanary
			return c
		}()}, "Post: TLS certificate refused: it is for another host"},
		{"a check of our own", secure.URL, &http.Transport{TLSClientConfig: func() *tls.Config {
			c := trusting()
			c.VerifyConnection = func(tls.ConnectionState) error { return errors.New(foreignCanary) }
			return c
		}()}, "Post: *errors.errorString"},
		{"the server's alert", strict.URL, &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}, "remote error: tls: "},
		{"TLS to a plain server", strings.Replace(plain.URL, "http:", "https:", 1), &http.Transport{}, http.ErrSchemeMismatch.Error()},
		{"plain to a raw server by TLS", "https://" + rawServer(t, func(c net.Conn) { io.WriteString(c, foreignCanary) }), &http.Transport{}, "the answer is not TLS"},
		{"header time-out", slow.URL, &http.Transport{ResponseHeaderTimeout: 20 * time.Millisecond}, "Post: *http.timeoutError (timeout)"},
		{"bad scheme", foreignCanary + "://h", &http.Transport{}, "Post: "},
		{"bad proxy", "http://h", &http.Transport{Proxy: func(*http.Request) (*url.URL, error) { return nil, errors.New(foreignCanary) }}, "Post: "},
		{"refusing proxy", "http://h", &http.Transport{Proxy: http.ProxyURL(&url.URL{
			Scheme: "http", Host: refusing, User: url.UserPassword(foreignCanary, foreignCanary),
		})}, "proxyconnect tcp: dial tcp " + refusing},
		{"cancelled", slow.URL, &http.Transport{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			ctx := t.Context()
			if c.name == "cancelled" {
				ctx = ended
			}
			t.Cleanup(c.transport.CloseIdleConnections)
			target := strings.Replace(c.base, "://", "://"+foreignCanary+":"+foreignCanary+"@", 1) + "/" + foreignCanary + "?q=" + foreignCanary
			req, err := http.NewRequestWithContext(ctx, "POST", target, strings.NewReader(foreignCanary))
			require.NoError(t, err)
			req.Header.Set("X-Api-Key", foreignCanary)
			resp, err := (&http.Client{Transport: c.transport}).Do(req)
			if err == nil {
				resp.Body.Close()
			}
			require.Error(t, err)
			t.Logf("foreign: %v", err)
			got := newCause(err)
			t.Logf("ours:    %v", got)
			assert.NotContains(t, got.Error(), foreignCanary)
			assert.Contains(t, got.Error(), c.want)
			assert.ErrorIs(t, got, err)
		})
	}
}
