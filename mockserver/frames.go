package mockserver

import (
	"encoding/binary"
	"io"
	"sync"
)

// Frame types and error codes of RFC 9113 sections 6.4, 6.8 and 7.
const (
	frameHeaderLength = 9
	frameRSTStream    = 0x3
	frameGoAway       = 0x7
	codeInternalError = 0x2
	codeRefusedStream = 0x7
	resetFrameLength  = frameHeaderLength + 4
)

// A frameWriter passes on the frames that net/http's server writes, and changes
// the RST_STREAM of an aborted handler where a fault wants something else. A
// handler cannot tell its stream, but its wish and its RST_STREAM come in the
// same order as those of other handlers of the connection, as long as they do
// not abort at the same moment.
type frameWriter struct {
	mu sync.Mutex
	// Guarded by mu.
	wishes  []See
	partial []byte // a frame header, or an RST_STREAM frame, not yet whole
	rest    int    // payload still to come of a frame that is passed on
}

// changeReset says what the next RST_STREAM of an aborted handler becomes.
func (f *frameWriter) changeReset(to See) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.wishes = append(f.wishes, to)
}

func (f *frameWriter) write(w io.Writer, b []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	var out []byte
	for in := b; len(in) > 0; {
		if f.rest > 0 {
			n := min(f.rest, len(in))
			out = append(out, in[:n]...)
			in = in[n:]
			f.rest -= n
			continue
		}
		want := frameHeaderLength
		if len(f.partial) >= frameHeaderLength {
			want = resetFrameLength
		}
		n := min(want-len(f.partial), len(in))
		f.partial = append(f.partial, in[:n]...)
		in = in[n:]
		switch {
		case len(f.partial) < want:
		case want == resetFrameLength:
			out = append(out, f.reset(f.partial)...)
			f.partial = nil
		case f.partial[3] == frameRSTStream:
			// held until its error code has come
		default:
			f.rest = int(f.partial[0])<<16 | int(f.partial[1])<<8 | int(f.partial[2])
			out = append(out, f.partial...)
			f.partial = nil
		}
	}
	if _, err := w.Write(out); err != nil {
		return 0, err
	}
	return len(b), nil
}

// reset is what an RST_STREAM frame becomes.
func (f *frameWriter) reset(frame []byte) []byte {
	code := frame[frameHeaderLength:]
	if binary.BigEndian.Uint32(code) != codeInternalError || len(f.wishes) == 0 {
		return frame
	}
	wish := f.wishes[0]
	f.wishes = f.wishes[1:]
	switch wish {
	case SeeRefused:
		binary.BigEndian.PutUint32(code, codeRefusedStream)
	case SeeGoAway:
		// The client's streams have odd numbers: the one before is two less.
		last := max(binary.BigEndian.Uint32(frame[5:]), 2) - 2
		frame = []byte{0, 0, 8, frameGoAway, 0, 0, 0, 0, 0}
		frame = binary.BigEndian.AppendUint32(frame, last)
		frame = binary.BigEndian.AppendUint32(frame, 0) // NO_ERROR
	}
	return frame
}
