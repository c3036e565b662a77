package wire

import (
	"bytes"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"
)

// A script is how a hand-written HTTP/2 server behaves. Its functions run in
// the loop that reads the connection's frames; nil ones do nothing.
type script struct {
	settings []http2.Setting
	// stingy: no WINDOW_UPDATE is ever sent.
	stingy bool
	// accept runs in place of everything else.
	accept func(net.Conn)
	hello  func(*conn)          // SETTINGS were sent
	head   func(*conn, request) // the action's header came
	whole  func(*conn, request) // and its END_STREAM
}

// A request is one stream of the action's.
type request struct {
	id  uint32
	nth int // send of the action, from 1, over all connections
}

// A conn is the server's side of one HTTP/2 connection.
type conn struct {
	net.Conn
	s      *server
	framer *http2.Framer
	acked  chan struct{} // closed when the client has taken our first SETTINGS
	ended  chan struct{} // closed when the client's side has ended
	bg     sync.WaitGroup

	mu     sync.Mutex // guards the writing side
	fields bytes.Buffer
	enc    *hpack.Encoder
}

func serveFrames(t testing.TB, secure bool, sc script) *server {
	handle := func(s *server, nc net.Conn) {
		if sc.accept != nil {
			sc.accept(nc)
			io.Copy(io.Discard, nc)
			return
		}
		c := &conn{Conn: nc, s: s, framer: http2.NewFramer(nc, nc), acked: make(chan struct{}), ended: make(chan struct{})}
		c.enc = hpack.NewEncoder(&c.fields)
		c.framer.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
		c.read(sc)
		close(c.ended)
		nc.Close()
		c.bg.Wait()
	}
	if secure {
		return serve(t, securedFor("h2"), handle)
	}
	return serve(t, nil, handle)
}

// read obeys the script until the connection ends.
func (c *conn) read(sc script) {
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := io.ReadFull(c, preface); err != nil || string(preface) != http2.ClientPreface {
		return
	}
	c.write(func(f *http2.Framer) error { return f.WriteSettings(sc.settings...) })
	if sc.hello != nil {
		sc.hello(c)
	}
	open := map[uint32]request{}
	for {
		frame, err := c.framer.ReadFrame()
		if err != nil {
			return
		}
		switch f := frame.(type) {
		case *http2.MetaHeadersFrame:
			if f.PseudoValue("path") == "/warm" {
				c.warm(f.StreamID)
				continue
			}
			r := request{f.StreamID, c.s.head(key(f))}
			if sc.head != nil {
				sc.head(c, r)
			}
			if !f.StreamEnded() {
				open[r.id] = r
				continue
			}
			c.end(sc, r)
		case *http2.DataFrame:
			if n := uint32(len(f.Data())); n > 0 && !sc.stingy {
				c.write(func(w *http2.Framer) error { return w.WriteWindowUpdate(0, n) })
				c.write(func(w *http2.Framer) error { return w.WriteWindowUpdate(f.StreamID, n) })
			}
			if f.StreamEnded() {
				c.end(sc, open[f.StreamID])
			}
		case *http2.SettingsFrame:
			if !f.IsAck() {
				c.write(func(w *http2.Framer) error { return w.WriteSettingsAck() })
			} else {
				select {
				case <-c.acked:
				default:
					close(c.acked)
				}
			}
		case *http2.PingFrame:
			if !f.IsAck() {
				c.write(func(w *http2.Framer) error { return w.WritePing(true, f.Data) })
			}
		}
	}
}

func (c *conn) end(sc script, r request) {
	c.s.end()
	if sc.whole != nil {
		sc.whole(c, r)
	}
}

// warm keeps the stream open until all are released.
func (c *conn) warm(id uint32) {
	c.beside(func() {
		for _, ch := range []chan struct{}{c.acked, nil, c.s.release} {
			if ch == nil {
				select {
				case c.s.arrived <- struct{}{}:
				case <-c.ended:
					return
				}
				continue
			}
			select {
			case <-ch:
			case <-c.ended:
				return
			}
		}
		c.write(func(f *http2.Framer) error {
			return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block([]string{":status", "204"}), EndHeaders: true, EndStream: true})
		})
	})
}

// beside runs f beside the reading loop; the connection waits for it.
func (c *conn) beside(f func()) { c.bg.Go(f) }

// write writes frames in one piece. Its error means that the client has gone.
func (c *conn) write(f func(*http2.Framer) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return f(c.framer)
}

// header sends HEADERS of names and values.
func (c *conn) header(id uint32, end bool, fields ...string) error {
	if len(fields) > 1 && fields[0] == ":status" && fields[1][0] == '2' {
		c.s.success()
	}
	return c.write(func(f *http2.Framer) error {
		return f.WriteHeaders(http2.HeadersFrameParam{StreamID: id, BlockFragment: c.block(fields), EndHeaders: true, EndStream: end})
	})
}

// block encodes a header block. The lock is held.
func (c *conn) block(fields []string) []byte {
	c.fields.Reset()
	for i := 0; i < len(fields); i += 2 {
		c.enc.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return bytes.Clone(c.fields.Bytes())
}

func (c *conn) data(id uint32, end bool, text string) error {
	return c.write(func(f *http2.Framer) error { return f.WriteData(id, end, []byte(text)) })
}

// goAway also ends the connection if the client does not in time: net/http now
// and then drops such a one from its pool and leaves it open.
func (c *conn) goAway(last uint32, code http2.ErrCode) {
	c.write(func(f *http2.Framer) error { return f.WriteGoAway(last, code, nil) })
	c.Conn.SetReadDeadline(time.Now().Add(10 * time.Second))
}

func (c *conn) reset(id uint32, code http2.ErrCode) {
	c.write(func(f *http2.Framer) error { return f.WriteRSTStream(id, code) })
}

func (c *conn) hangUp(request) { hangUp(c.Conn) }

func (c *conn) abort(request) { abort(c.Conn) }

// answer is what a server that does as it should says.
func (c *conn) answer(r request) { c.reply(r, "201") }

func (c *conn) reply(r request, status string) {
	c.header(r.id, false, ":status", status, "content-type", "application/json", "content-length", "2")
	c.data(r.id, true, "{}")
}

// begin sends the header of an answer whose body is to come.
func (c *conn) begin(r request, length int) {
	fields := []string{":status", "201", "content-type", "application/json"}
	if length >= 0 {
		fields = append(fields, "content-length", strconv.Itoa(length))
	}
	c.header(r.id, false, fields...)
}

func key(f *http2.MetaHeadersFrame) string {
	for _, field := range f.RegularFields() {
		if strings.EqualFold(field.Name, "idempotency-key") {
			return field.Value
		}
	}
	return ""
}
