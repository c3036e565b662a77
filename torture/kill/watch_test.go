//go:build unix

package kill

import (
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"strings"
	"sync"
	"time"
)

// watched is a transport whose phases are points.
type watched struct {
	base *http.Transport
	p    *program
}

func (t watched) RoundTrip(req *http.Request) (*http.Response, error) {
	p := t.p
	p.here(SendCalled)
	var field sync.Once
	ctx := httptrace.WithClientTrace(req.Context(), &httptrace.ClientTrace{
		GetConn:              func(string) { p.here(GetConn) },
		GotConn:              func(httptrace.GotConnInfo) { p.here(GotConn) },
		WroteHeaderField:     func(string, []string) { field.Do(func() { p.here(WroteField) }) },
		WroteHeaders:         func() { p.here(WroteHeaders) },
		WroteRequest:         func(httptrace.WroteRequestInfo) { p.here(WroteRequest) },
		Got1xxResponse:       func(int, textproto.MIMEHeader) error { p.here(GotEarlyHints); return nil },
		GotFirstResponseByte: func() { p.here(FirstByte) },
	})
	req = req.WithContext(ctx)
	req.Body = &watchedBody{ReadCloser: req.Body, part: func() { p.here(BodyRead) }}
	late := strings.Contains(req.URL.Path, "late")
	if late && !p.cutsOff && p.late() {
		p.here(ShutdownWaits)
	}
	resp, err := t.base.RoundTrip(req)
	if err != nil {
		p.here(SendFailed)
		return nil, err
	}
	p.here(AnswerHeader)
	if late && p.cutsOff && p.late() {
		// Its answer is here, and the client does not get it.
		<-ctx.Done()
		resp.Body.Close()
		p.here(CloseCutsOff)
		return nil, ctx.Err()
	}
	resp.Body = &watchedBody{ReadCloser: resp.Body,
		part: func() { p.here(AnswerPart) }, cut: func() { p.here(AnswerCut) }, end: func() { p.here(AnswerEnd) }}
	return resp, nil
}

// late waits until the round's client is about to be closed, and is true, for
// the first attempt of the round's last action. What Resume takes up of an
// earlier round goes its way.
func (p *program) late() bool {
	if p.resuming.Load() || !p.waits.CompareAndSwap(true, false) {
		return false
	}
	close(p.underWay)
	<-p.stopping
	time.Sleep(time.Millisecond) // until it is being closed
	return true
}

// watchedBody says what the first read of a part, and the end, came to.
type watchedBody struct {
	io.ReadCloser
	part, cut, end func()
}

func (b *watchedBody) Read(buf []byte) (int, error) {
	n, err := b.ReadCloser.Read(buf)
	once := func(f *func()) {
		if call := *f; call != nil {
			*f = nil
			call()
		}
	}
	if n > 0 {
		once(&b.part)
	}
	if err == io.EOF {
		once(&b.end)
	} else if err != nil {
		once(&b.cut)
	}
	return n, err
}
