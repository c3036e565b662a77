package mockserver

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"
)

// ParseScript reads a script: a JSON array of faults. What it does not know, or
// what cannot be played, is an error that says where.
func ParseScript(data []byte) ([]Fault, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, errors.New("mockserver: script: want a JSON array of faults")
	}
	faults := []Fault{}
	for n := 1; d.More(); n++ {
		var raw json.RawMessage
		err := d.Decode(&raw)
		line := 1 + bytes.Count(data[:d.InputOffset()-int64(len(raw))], []byte("\n"))
		var f Fault
		if err == nil {
			err = json.Unmarshal(raw, &f)
		}
		if err == nil {
			err = f.check()
		}
		if err != nil {
			return nil, fmt.Errorf("mockserver: script: fault %d, at line %d: %w", n, line, err)
		}
		faults = append(faults, f)
	}
	if _, err := d.Token(); err != nil {
		return nil, fmt.Errorf("mockserver: script: the array does not end: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, errors.New("mockserver: script: there is more after the array")
	}
	return faults, nil
}

// check says why a fault cannot be played.
func (f Fault) check() error {
	err := cmp.Or(
		oneOf("see", f.See, SeeAnswer, SeeReset, SeeClose, SeeNothing, SeeTruncated, SeeEarly, SeeEndless, SeeDrip, SeeRaw, SeeGoAway, SeeRefused),
		oneOf("framing", f.Framing, FramingLength, FramingChunked, FramingClose),
		oneOf("crash", f.Crash, NoCrash, CrashBefore, CrashBetween, CrashAfter),
	)
	if err != nil {
		return err
	}
	for _, code := range f.Informational {
		if code < 100 || code > 199 || code == http.StatusSwitchingProtocols {
			return fmt.Errorf("informational: %d is no 1xx answer that another follows", code)
		}
	}
	switch {
	case f.Status != 0 && (f.Status < 200 || f.Status > 999):
		return fmt.Errorf("status: %d is no final status", f.Status)
	case f.Before < 0 || f.After < 0 || f.Late < 0 || f.Every < 0:
		return errors.New("a delay is negative")
	case f.Keep < 0 || f.Read < 0 || f.Behind < 0:
		return errors.New("keep, read and behind are never negative")
	case f.delivers() && f.leavesAnswer():
		return errors.New("late and behind show the fault before there is an answer: set see or status")
	case (f.Late > 0 || f.Behind > 0) && !f.reaches():
		return errors.New("late and behind are for a request that reaches the workflow: set commit")
	case f.See == SeeEarly && f.reaches():
		return errors.New("see: an early answer leaves the body unread, so nothing can be committed")
	case f.Body != "" && f.Status == 0 && f.leavesAnswer():
		return errors.New("body: set status too, or the answer is the workflow's own")
	case f.Origin && f.Status == 0:
		return errors.New("origin: the API's own answer needs a status")
	}
	return nil
}

// String is the fault as JSON.
func (f Fault) String() string {
	b, err := json.Marshal(f)
	if err != nil {
		return "fault: " + err.Error()
	}
	return string(b)
}

// Random returns n requests' faults, the same for the same seed: print the seed.
// Half of them are normal, none holds a request for longer than 20 ms, so that
// a client with a small budget can get through.
func Random(seed uint64, n int) []Fault {
	random := rand.New(rand.NewPCG(seed, 0))
	menu := []Fault{
		{See: SeeReset}, {See: SeeClose}, {See: SeeTruncated, Keep: 5}, {See: SeeTruncated, Keep: 5, Framing: FramingChunked},
		{See: SeeTruncated, Keep: 5, Gzip: true}, {See: SeeRaw, Body: "HTTP/1.1 20"}, {See: SeeClose, Informational: []int{103}},
		Gateway(http.StatusBadGateway), Gateway(http.StatusServiceUnavailable), Gateway(http.StatusGatewayTimeout),
		Status(http.StatusInternalServerError), Status(http.StatusTooManyRequests), {Before: 20 * time.Millisecond}, {After: 20 * time.Millisecond},
	}
	faults := make([]Fault, n)
	for i := range faults {
		if random.IntN(2) == 0 {
			continue
		}
		faults[i] = menu[random.IntN(len(menu))].clone()
		faults[i].Commit = random.IntN(2) == 0
	}
	return faults
}
