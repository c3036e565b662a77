package wire

import (
	"encoding/binary"
	"io"
	"net"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

const storm = 3000

// storms sends many frames beside the reading loop, and then goes on.
func storms(n int, write func(*http2.Framer, request) error, then func(*conn, request)) func(*conn, request) {
	return func(c *conn, r request) {
		c.beside(func() {
			for range n {
				if c.write(func(f *http2.Framer) error { return write(f, r) }) != nil {
					return
				}
			}
			then(c, r)
		})
	}
}

func nothing(*conn, request) {}

func ping(f *http2.Framer, _ request) error { return f.WritePing(false, [8]byte{}) }

func setting(id http2.SettingID, value uint32) func(*conn, request) {
	return func(c *conn, _ request) {
		c.write(func(f *http2.Framer) error { return f.WriteSettings(http2.Setting{ID: id, Val: value}) })
	}
}

// Frames that say nothing of the request change nothing of its outcome, and
// a request that stalls ends with its attempt's time-out.
func TestStormsAndStallsAreNoAnswers(t *testing.T) {
	large := strings.Repeat("x", 200<<10) // more than HTTP/2's first window
	settings := func(f *http2.Framer, _ request) error { return f.WriteSettings() }
	window := func(f *http2.Framer, r request) error { return f.WriteWindowUpdate(0, 1) }
	unknownType := func(f *http2.Framer, r request) error { return f.WriteRawFrame(0xbb, 0, r.id, []byte("x")) }
	each(t, ways, map[string]row{
		"PING":                         {script: script{whole: storms(storm, ping, (*conn).answer)}, want: confirmed},
		"PING, and then nothing":       {script: script{whole: storms(storm, ping, (*conn).abort)}, want: unknown},
		"SETTINGS":                     {script: script{whole: storms(storm, settings, (*conn).answer)}, want: confirmed},
		"WINDOW_UPDATE":                {script: script{whole: storms(storm, window, (*conn).answer)}, want: confirmed},
		"frames of an unknown type":    {script: script{whole: storms(storm, unknownType, (*conn).answer)}, want: confirmed},
		"a PING that is not answered":  {script: script{whole: storms(1, ping, nothing)}, timeout: short, want: unknown},
		"a window over the bound":      {script: script{whole: setting(http2.SettingInitialWindowSize, 1<<31-1)}, timeout: short, want: unknown},
		"a window out of bound":        {script: script{whole: setting(http2.SettingInitialWindowSize, 1<<31)}, timeout: short, want: unknown},
		"frames of no length allowed":  {script: script{whole: setting(http2.SettingMaxFrameSize, 1)}, timeout: short, want: unknown},
		"no stream allowed meanwhile":  {script: script{whole: also(setting(http2.SettingMaxConcurrentStreams, 0), (*conn).answer)}, idle: 1, want: confirmed},
		"no stream allowed any more":   {script: script{whole: also(setting(http2.SettingMaxConcurrentStreams, 0), resets(http2.ErrCodeInternal))}, idle: 1, want: unknown},
		"one stream allowed":           {script: script{settings: alone, whole: (*conn).answer}, idle: 3, want: confirmed},
		"one stream allowed, all lost": {script: script{settings: alone, whole: (*conn).abort}, idle: 3, want: unknown},
		"no stream ever allowed": {script: script{settings: []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 0}}},
			timeout: short, want: perhapsSent},
		"no window": {script: script{settings: []http2.Setting{{ID: http2.SettingInitialWindowSize, Val: 0}}, stingy: true, whole: (*conn).answer},
			idle: 1, timeout: short, want: withBody(unknown, confirmed)},
		"a window that is not filled up": {script: script{stingy: true, whole: (*conn).answer},
			body: large, timeout: short, want: withBody(unknown, confirmed)},
		"a large body":        {script: script{whole: (*conn).answer}, body: large, want: confirmed},
		"silence":             {timeout: short, want: unknown},
		"silence, and closed": {script: script{whole: (*conn).hangUp}, want: unknown},
		"silence, and reset":  {script: script{whole: (*conn).abort}, want: unknown},
		"reset at the header": {script: script{head: (*conn).abort}, want: unknown},
	})
}

// The server that answers the preface with something else, or breaks off in a
// frame, has said nothing.
func TestWhatIsNoFrameIsNoAnswer(t *testing.T) {
	says := func(text string) func(net.Conn) {
		return func(nc net.Conn) {
			io.WriteString(nc, text)
			hangUp(nc)
		}
	}
	frame := func(text string, length uint32) func(*conn, request) { // a header of a HEADERS frame, and what there is of it
		return func(c *conn, r request) {
			head := binary.BigEndian.AppendUint32(nil, length<<8|uint32(http2.FrameHeaders))
			head = append(head, byte(http2.FlagHeadersEndHeaders))
			head = binary.BigEndian.AppendUint32(head, r.id)
			c.Write(append(head, text...))
			c.hangUp(r)
		}
	}
	each(t, ways[:2], map[string]row{
		"closed at once":             {script: script{accept: hangUp}, want: perhapsSent},
		"reset at once":              {script: script{accept: abort}, want: perhapsSent},
		"HTTP/1":                     {script: script{accept: says("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")}, want: perhapsSent},
		"a success in HTTP/1":        {script: script{accept: says("HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\n{}")}, want: perhapsSent},
		"zeros":                      {script: script{accept: says(strings.Repeat("\x00", 100))}, want: perhapsSent},
		"no SETTINGS first":          {script: script{accept: says("\x00\x00\x08\x06\x00\x00\x00\x00\x0012345678")}, want: perhapsSent},
		"GOAWAY in place of any":     {script: script{accept: says("\x00\x00\x08\x07\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01")}, want: perhapsSent},
		"half a frame's header":      {script: script{whole: func(c *conn, r request) { io.WriteString(c, "\x00\x00"); c.hangUp(r) }}, want: unknown},
		"half a HEADERS frame":       {script: script{whole: frame("\x48", 100)}, want: unknown},
		"a HEADERS frame of nothing": {script: script{whole: frame("", 0)}, want: unknown},
		"a frame too large":          {script: script{whole: frame("\x00", 1<<24-1)}, want: unknown},
		"no HPACK":                   {script: script{whole: frame("\xff\xff\xff\xff\xff\xff", 6)}, want: unknown},
		"half a DATA frame": {script: script{whole: func(c *conn, r request) {
			c.begin(r, 100)
			c.Write(append([]byte("\x00\x00\x64\x00\x00"), binary.BigEndian.AppendUint32(nil, r.id)...))
			io.WriteString(c, "{")
			c.hangUp(r)
		}}, want: cutOff},
		"DATA before HEADERS":      {script: script{whole: func(c *conn, r request) { c.data(r.id, true, "{}") }}, want: unknown},
		"HEADERS of another":       {script: script{whole: func(c *conn, r request) { c.answer(request{id: r.id + 100}); c.abort(r) }}, want: unknown},
		"HEADERS of a pushed one":  {script: script{whole: func(c *conn, r request) { c.answer(request{id: 2}); c.abort(r) }}, want: unknown},
		"HEADERS of no stream":     {script: script{whole: func(c *conn, r request) { c.header(0, true, ":status", "201"); c.hangUp(r) }}, want: unknown},
		"a reset of no stream":     {script: script{whole: func(c *conn, _ request) { c.Write([]byte("\x00\x00\x04\x03\x00\x00\x00\x00\x00\x00\x00\x00\x07")) }}, want: unknown},
		"WINDOW_UPDATE by nothing": {script: script{whole: func(c *conn, r request) { c.Write([]byte("\x00\x00\x04\x08\x00\x00\x00\x00\x00\x00\x00\x00\x00")) }}, want: unknown},
	})
}
