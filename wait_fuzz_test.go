package oncehttp

import (
	"math"
	"math/big"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// FuzzWindow compares the usable part of a window with exact arithmetic.
func FuzzWindow(f *testing.F) {
	f.Add(int64(24*time.Hour), uint8(0), 0.9, int64(30*time.Second), int64(1795953600))
	f.Add(int64(math.MaxInt64), uint8(3), math.Nextafter(1, 0), int64(math.MaxInt64), int64(math.MinInt64))
	f.Add(int64(24*time.Hour), uint8(0), 0.9, -int64(30*time.Second), int64(0))
	f.Add(int64(math.MinInt64), uint8(1), math.NaN(), int64(math.MinInt64), int64(0))
	f.Add(int64(time.Hour), uint8(3|2<<3), 0.5, int64(time.Second), int64(0))
	f.Add(int64(time.Hour), uint8(4|1<<3), 0.5, int64(time.Second), int64(0))
	f.Fuzz(func(t *testing.T, length int64, kind uint8, share float64, attempt, unix int64) {
		w := Window{Length: time.Duration(length), Kind: WindowKind(kind & 7 % 5), After: Expiry(kind >> 3 % 3)}
		usable, forever := w.usable(share, time.Duration(attempt))
		require.Equal(t, w.Kind == WindowForever, forever)
		if forever {
			return
		}
		if w.Kind == WindowUnknown {
			length = int64(5 * time.Minute)
		}
		require.GreaterOrEqual(t, usable, time.Duration(0))
		require.LessOrEqual(t, usable, time.Duration(max(0, length)))

		exact := new(big.Float).SetPrec(200)
		if length > 0 && share > 0 {
			exact.SetInt64(length)
			if share < 1 && w.After != ExpiryRefuses {
				exact.Mul(exact, big.NewFloat(share))
			}
			exact.Sub(exact, new(big.Float).SetInt64(max(0, attempt)))
		}
		if exact.Sign() < 0 {
			exact.SetInt64(0)
		}
		off, _ := exact.Sub(exact, new(big.Float).SetInt64(int64(usable))).Float64()
		require.LessOrEqual(t, math.Abs(off), 2+math.Ldexp(float64(max(0, length)), -52), "nanoseconds off")

		first := time.Unix(unix%(1<<36), 0)
		r := record{First: first, Exposed: true, Begun: begun{Wire: "k", Window: w}}
		until, bounded := r.safeUntil(w, share, time.Duration(attempt))
		require.True(t, bounded)
		require.Equal(t, usable, until.Sub(first), "no overflow")
		other := Window{Length: time.Duration(attempt)}
		smaller, _ := r.window(&Contract{Window: other}).usable(1, 0)
		require.Equal(t, min(time.Duration(max(0, length)), max(0, other.Length)), smaller, "the smaller window counts")
	})
}

// FuzzBackOff: a wait is never above its cap, and the next attempt never sooner
// than the server asked, whatever jitter adds.
func FuzzBackOff(f *testing.F) {
	for _, n := range []int{0, 1, 7, 62, 63, 64, math.MaxInt, math.MinInt} {
		f.Add(0.5, n, int64(200*time.Millisecond), int64(20*time.Second), "120")
		f.Add(1.0, n, int64(1), int64(math.MaxInt64), "Sun, 01 Mar 2026 12:00:30 GMT")
		f.Add(math.Inf(1), n, int64(math.MaxInt64), int64(time.Hour), "99999999999999999999")
		f.Add(math.NaN(), n, int64(-1), int64(0), "")
	}
	f.Fuzz(func(t *testing.T, chance float64, n int, base, limit int64, asked string) {
		longest := longestWait(n, time.Duration(base), time.Duration(limit))
		exact := new(big.Int).Lsh(big.NewInt(max(1, base)), uint(min(max(0, n), 200)))
		if most := big.NewInt(max(0, limit)); exact.Cmp(most) > 0 {
			exact = most
		}
		require.Equal(t, exact.Int64(), int64(longest))
		require.LessOrEqual(t, longest, longestWait(n+min(1, math.MaxInt-max(0, n)), time.Duration(base), time.Duration(limit)), "the bound never shrinks")
		wait := fullJitter(chance, n, time.Duration(base), time.Duration(limit))
		require.True(t, 0 <= wait && wait <= longest, "%v of %v", wait, longest)

		b := NewFullJitter(time.Duration(base), time.Duration(limit))
		b.random = func() float64 { return chance }
		b.at(n)
		require.Equal(t, max(0, n), b.n)
		for range 3 {
			next := b.NextBackOff()
			require.True(t, 0 <= next && next <= b.limit && b.base > 0 && b.base <= b.limit)
		}

		s := newScript(t, keyed)
		s.send("1")
		h := http.Header{"Retry-After": {asked}}
		e := event{kind: evAnswered, attempt: "1", delay: min(wait, farthestWait), answer: &answer{Status: 503},
			judged: classify(facts{status: 503, header: h}, history{method: "POST", protection: keyed}, s.p.contract, s.now)}
		s.step(e)
		floor, _ := retryAfter(h, s.now)
		require.Equal(t, floor+e.delay, s.m.next.NotBefore.Sub(s.now))
		due := s.m.next.Due
		require.True(t, !due.Before(s.m.next.NotBefore) || due.IsZero() && s.m.next.Reason == KeyExpired)
		s.step(event{kind: evSaved})
		require.NotEqual(t, cmdSend, s.cmd.kind)
		if floor+e.delay > 0 {
			require.NotEqual(t, cmdReady, s.cmd.kind, "no attempt before its time")
		}
	})
}
