package mockserver

import (
	"context"
	"io"
	"net"
	"os"
	"strconv"
	"sync"
	"syscall"
	"time"
)

// memoryBuffer is how many bytes a direction of a connection in memory holds
// before its writer waits.
const memoryBuffer = 64 << 10

// A memoryNet is a net.Listener whose connections are pairs of buffers. All its
// waits are on condition variables, so that it runs in a synctest bubble.
type memoryNet struct {
	arrived chan net.Conn
	closed  chan struct{}
	once    sync.Once

	mu    sync.Mutex
	dials int
}

func newMemoryNet() *memoryNet {
	return &memoryNet{arrived: make(chan net.Conn), closed: make(chan struct{})}
}

func (n *memoryNet) Accept() (net.Conn, error) {
	select {
	case c := <-n.arrived:
		return c, nil
	case <-n.closed:
		return nil, net.ErrClosed
	}
}

func (n *memoryNet) Close() error {
	n.once.Do(func() { close(n.closed) })
	return nil
}

func (n *memoryNet) Addr() net.Addr { return memoryAddr("memory") }

func (n *memoryNet) dial(ctx context.Context) (net.Conn, error) {
	n.mu.Lock()
	n.dials++
	addr := memoryAddr("memory:" + strconv.Itoa(n.dials))
	n.mu.Unlock()
	client, server := memoryPair(addr, n.Addr())
	select {
	case n.arrived <- server:
		return client, nil
	case <-n.closed:
		return nil, syscall.ECONNREFUSED
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

type memoryAddr string

func (memoryAddr) Network() string  { return "memory" }
func (a memoryAddr) String() string { return string(a) }

// A stream is one direction of a connection in memory.
type stream struct {
	mu   sync.Mutex
	cond sync.Cond
	// Guarded by mu.
	data                        []byte
	writerClosed                bool // the reader gets EOF after data
	readerClosed                bool // the writer gets EPIPE
	reset                       bool // both get ECONNRESET, the reader after data
	readDeadline, writeDeadline deadline
}

func newStream() *stream {
	s := &stream{}
	s.cond.L = &s.mu
	return s
}

func (s *stream) read(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		switch {
		case s.readerClosed:
			return 0, net.ErrClosed
		case s.readDeadline.passed():
			return 0, os.ErrDeadlineExceeded
		case len(b) == 0:
			return 0, nil
		case len(s.data) > 0:
			n := copy(b, s.data)
			s.data = s.data[n:]
			s.cond.Broadcast()
			return n, nil
		case s.reset:
			return 0, syscall.ECONNRESET
		case s.writerClosed:
			return 0, io.EOF
		}
		s.cond.Wait()
	}
}

func (s *stream) write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := 0
	for {
		switch {
		case s.writerClosed:
			return written, net.ErrClosed
		case s.reset:
			return written, syscall.ECONNRESET
		case s.readerClosed:
			return written, syscall.EPIPE
		case s.writeDeadline.passed():
			return written, os.ErrDeadlineExceeded
		case len(b) == 0:
			return written, nil
		case len(s.data) < memoryBuffer:
			n := min(len(b), memoryBuffer-len(s.data))
			s.data = append(s.data, b[:n]...)
			b = b[n:]
			written += n
			s.cond.Broadcast()
			continue
		}
		s.cond.Wait()
	}
}

// A deadline wakes a stream's waiters when it passes.
type deadline struct {
	at    time.Time
	timer *time.Timer
}

func (d *deadline) passed() bool { return !d.at.IsZero() && !time.Now().Before(d.at) }

func (d *deadline) stop() {
	if d.timer != nil {
		d.timer.Stop()
	}
}

func (s *stream) setDeadline(d *deadline, t time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d.stop()
	*d = deadline{at: t}
	if !t.IsZero() {
		d.timer = time.AfterFunc(time.Until(t), func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.cond.Broadcast()
		})
	}
	s.cond.Broadcast()
}

// A memoryConn is one end. It closes and resets as a TCP connection does, but
// the loss of bytes in flight is not shown: what was written before a close
// or a reset can still be read.
type memoryConn struct {
	in, out       *stream
	local, remote net.Addr

	mu     sync.Mutex
	linger bool // close resets
	closed bool
}

func memoryPair(client, server net.Addr) (*memoryConn, *memoryConn) {
	up, down := newStream(), newStream()
	return &memoryConn{in: down, out: up, local: client, remote: server},
		&memoryConn{in: up, out: down, local: server, remote: client}
}

func (c *memoryConn) Read(b []byte) (int, error) {
	n, err := c.in.read(b)
	return n, c.wrap("read", err)
}

func (c *memoryConn) Write(b []byte) (int, error) {
	n, err := c.out.write(b)
	return n, c.wrap("write", err)
}

func (c *memoryConn) wrap(op string, err error) error {
	if err == nil || err == io.EOF {
		return err
	}
	if errno, ok := err.(syscall.Errno); ok {
		err = os.NewSyscallError(op, errno)
	}
	return &net.OpError{Op: op, Net: "memory", Source: c.local, Addr: c.remote, Err: err}
}

// SetLinger makes Close reset the connection when sec is 0, as on TCP.
func (c *memoryConn) SetLinger(sec int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.linger = sec == 0
	return nil
}

func (c *memoryConn) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return c.wrap("close", net.ErrClosed)
	}
	c.closed = true

	c.in.mu.Lock()
	// As TCP does it, closing with bytes unread resets the peer.
	reset := c.linger || len(c.in.data) > 0
	c.in.readerClosed = true
	c.in.reset = c.in.reset || reset
	c.in.data = nil
	c.in.readDeadline.stop()
	c.in.cond.Broadcast()
	c.in.mu.Unlock()

	c.out.mu.Lock()
	c.out.writerClosed = true
	c.out.reset = c.out.reset || reset
	c.out.writeDeadline.stop()
	c.out.cond.Broadcast()
	c.out.mu.Unlock()
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr  { return c.local }
func (c *memoryConn) RemoteAddr() net.Addr { return c.remote }

func (c *memoryConn) SetDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readDeadline, t)
	c.out.setDeadline(&c.out.writeDeadline, t)
	return nil
}

func (c *memoryConn) SetReadDeadline(t time.Time) error {
	c.in.setDeadline(&c.in.readDeadline, t)
	return nil
}

func (c *memoryConn) SetWriteDeadline(t time.Time) error {
	c.out.setDeadline(&c.out.writeDeadline, t)
	return nil
}
