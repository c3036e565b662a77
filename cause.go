package oncehttp

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"syscall"
)

// A cause is an error of ours about a foreign one. Foreign texts quote URLs,
// headers and answers; this one is made of typed facts only, and is all that the
// journal keeps. The foreign error is reached by unwrapping.
type cause struct {
	text string
	err  error // nil after a restart
}

func (c *cause) Error() string { return c.text }

func (c *cause) Unwrap() error { return c.err }

// newCause returns a [*cause] about err; nil for nil.
func newCause(err error) error {
	if err == nil {
		return nil
	}
	if c, ok := err.(*cause); ok {
		return c
	}
	return &cause{text: shorten(typedFacts(err, 0), maxCauseText), err: err}
}

// causeText returns the cause that a journal kept the text of; nil for none.
func causeText(text string) error {
	if text == "" {
		return nil
	}
	return &cause{text: text}
}

const (
	maxCauseDepth   = 12   // wrappings looked through; a joined error counts as four
	maxCauseBreadth = 3    // errors named of a joined one
	maxCauseText    = 1000 // bytes
)

// typedFacts says what err is, by its type and those below it. No string that a
// foreign package chose passes: operations and networks only when they are known
// words, host names only when they are host names, and texts only of constants.
func typedFacts(err error, depth int) string {
	if constantError(err) {
		return err.Error()
	}
	if v := reflect.ValueOf(err); depth > maxCauseDepth || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Sprintf("%T", err)
	}
	below := func(inner error, words ...string) string {
		head := strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), " ")
		switch {
		case inner == nil:
			return cmp.Or(head, typeFact(err))
		case head == "":
			return typedFacts(inner, depth+1)
		}
		return head + ": " + typedFacts(inner, depth+1)
	}
	switch e := err.(type) {
	case *cause:
		return e.text
	case *ownError:
		return e.text
	case *boltError:
		return e.text
	case *url.Error:
		return below(e.Err, knownWord(e.Op))
	case *net.OpError:
		return below(e.Err, knownWord(e.Op), knownWord(e.Net), addressFact(e.Addr))
	case *os.SyscallError:
		return below(e.Err)
	case *fs.PathError:
		return below(e.Err, knownWord(e.Op), "file")
	case syscall.Errno:
		return fmt.Sprintf("%s (errno %d)", e.Error(), int(e))
	case *net.DNSError:
		return "lookup " + hostFact(e.Name) + ": " + lookupKind(e)
	case *tls.CertificateVerificationError:
		return below(e.Err, "TLS certificate refused")
	case x509.UnknownAuthorityError:
		return "unknown authority"
	case x509.HostnameError:
		return "it is for another host"
	case x509.CertificateInvalidError:
		if e.Reason == x509.Expired {
			return "it is expired or not yet valid"
		}
		return fmt.Sprintf("it is not valid (x509 reason %d)", int(e.Reason))
	case tls.AlertError:
		return e.Error()
	case tls.RecordHeaderError:
		return "the answer is not TLS"
	case *http.MaxBytesError:
		return fmt.Sprintf("body is over %d bytes", e.Limit)
	case interface{ Unwrap() []error }:
		return joinedFacts(e.Unwrap(), depth)
	case interface{ Unwrap() error }:
		name := typeFact(err)
		if name == "*fmt.wrapError" { // a text, and nothing that we may show
			name = ""
		}
		return below(e.Unwrap(), name)
	}
	return typeFact(err)
}

// constantError reports whether the text of err is a constant of its package.
func constantError(err error) bool {
	switch err {
	case context.Canceled, context.DeadlineExceeded, os.ErrDeadlineExceeded,
		io.EOF, io.ErrUnexpectedEOF, io.ErrClosedPipe, net.ErrClosed,
		http.ErrSchemeMismatch, http.ErrBodyReadAfterClose, http.ErrContentLength,
		http.ErrLineTooLong, http.ErrMissingFile, http.ErrAbortHandler, http.ErrServerClosed,

		ErrNotFound, ErrInvalidAction, ErrInvalidRequest, ErrBodyTooLarge, ErrMismatch, ErrClosed,
		ErrInFlight, ErrPrincipal, ErrUnmatched, ErrTooMany, ErrJournal, ErrJournalLocked, ErrJournalCorrupt,
		ErrCopied, ErrFateUnknown, ErrExists, ErrConflict:
		return true
	}
	return false
}

// knownWord returns s if it is an operation or a network of the standard
// library, else nothing: anyone can put a text there.
func knownWord(s string) string {
	switch s {
	case "dial", "read", "write", "close", "proxyconnect", "remote error", "local error", "socks connect",
		"tcp", "tcp4", "tcp6", "udp", "udp4", "udp6", "unix",
		"parse", "Get", "Head", "Post", "Put", "Patch", "Delete", "Options",
		"open", "sync", "stat", "truncate":
		return s
	}
	return ""
}

func addressFact(addr net.Addr) string {
	switch addr.(type) {
	case *net.TCPAddr, *net.UDPAddr:
		return addr.String()
	}
	return ""
}

func hostFact(s string) string {
	if s == "" || len(s) > 253 || strings.ContainsFunc(s, func(r rune) bool {
		return r != '.' && r != '-' && r != '_' && !('a' <= r|0x20 && r|0x20 <= 'z') && !('0' <= r && r <= '9')
	}) {
		return "of a host"
	}
	return s
}

func lookupKind(e *net.DNSError) string {
	switch {
	case e.IsNotFound:
		return "no such host"
	case e.IsTimeout:
		return "timeout"
	case e.IsTemporary:
		return "failed for now"
	}
	return "failed"
}

func joinedFacts(list []error, depth int) string {
	var texts []string
	for _, err := range list[:min(len(list), maxCauseBreadth)] {
		if err != nil {
			texts = append(texts, typedFacts(err, depth+4))
		}
	}
	if more := len(list) - maxCauseBreadth; more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, "; ")
}

// typeFact names an error that nothing else is known of; one that is a number
// with its number, which is all that it can hold.
func typeFact(err error) string {
	name := fmt.Sprintf("%T", err)
	switch v := reflect.ValueOf(err); {
	case name == "tls.alert" && v.Kind() == reflect.Uint8:
		return tls.AlertError(v.Uint()).Error()
	case v.CanInt():
		return fmt.Sprintf("%s %d", name, v.Int())
	case v.CanUint():
		return fmt.Sprintf("%s %d", name, v.Uint())
	}
	if timeout, ok := err.(interface{ Timeout() bool }); ok && timeout.Timeout() {
		return name + " (timeout)"
	}
	return name
}

// ownError is an error whose whole text is ours.
type ownError struct {
	text string
	is   error
}

func (e *ownError) Error() string { return e.text }
func (e *ownError) Unwrap() error { return e.is }

// Timeout is as of [net.Error].
func (e *ownError) Timeout() bool { return e == errAttemptTimeout }
