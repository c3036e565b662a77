package oncehttp

import (
	"sync"
	"time"

	"github.com/google/uuid"
)

// ids makes UUIDv7s (RFC 9562 section 5.7) of the client's own clock, in order
// within a millisecond. The clock decides, also when it has gone back: a
// journal's order is that of wall time.
type ids struct {
	mu   sync.Mutex // guards what follows
	last int64      // millisecond of the last one
	next uint16     // of the next one in that millisecond, 12 bits
}

func (s *ids) new(now time.Time) uuid.UUID {
	ms := now.UnixMilli()
	s.mu.Lock()
	if ms != s.last || s.next > 0xfff {
		s.last, s.next = ms, 0
	}
	seq := s.next
	s.next++
	s.mu.Unlock()
	id := uuid.New()
	for i := range 6 {
		id[i] = byte(ms >> (8 * (5 - i)))
	}
	id[6], id[7] = 0x70|byte(seq>>8), byte(seq)
	return id
}
