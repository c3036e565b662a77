package oncehttp

import (
	"bytes"
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// slowUTF8 reports whether s is well-formed by table 3-7 of the Unicode
// standard, and has no control characters (category Cc).
func slowUTF8(s string) bool {
	in := func(i int, low, high byte) bool { return i < len(s) && low <= s[i] && s[i] <= high }
	for i := 0; i < len(s); {
		tail := func(low, high byte, more int) bool {
			if !in(i+1, low, high) {
				return false
			}
			for n := range more {
				if !in(i+2+n, 0x80, 0xBF) {
					return false
				}
			}
			i += 2 + more
			return true
		}
		ok := false
		switch c := s[i]; {
		case c < 0x20, c == 0x7F, c == 0xC2 && in(i+1, 0x80, 0x9F):
			return false
		case c < 0x80:
			i++
			ok = true
		case c >= 0xC2 && c <= 0xDF:
			ok = tail(0x80, 0xBF, 0)
		case c == 0xE0:
			ok = tail(0xA0, 0xBF, 1)
		case c == 0xED:
			ok = tail(0x80, 0x9F, 1)
		case c >= 0xE1 && c <= 0xEF:
			ok = tail(0x80, 0xBF, 1)
		case c == 0xF0:
			ok = tail(0x90, 0xBF, 2)
		case c >= 0xF1 && c <= 0xF3:
			ok = tail(0x80, 0xBF, 2)
		case c == 0xF4:
			ok = tail(0x80, 0x8F, 2)
		}
		if !ok {
			return false
		}
	}
	return true
}

// FuzzAction: exactly the names that the docs allow can be journaled, and each
// is found again under its own name and no other.
func FuzzAction(f *testing.F) {
	for _, s := range []string{
		"order-42/charge", "", "a\x00b", "\u0085", "\u00a0", "\u2028", "é", "e\u0301", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xc0\x80", "\ufeff", "key\u0000c\u0000k",
		"anonymous/", "anonymous/07000000-0000-7000-8000-000000000000", "anonymous/07000000-0000-7000-8000-000000000001",
		string(bytes.Repeat([]byte("é"), 512)), string(bytes.Repeat([]byte("x"), 1025)), "A", "a", " ", "/", "\U0010ffff",
	} {
		f.Add(s, "a")
	}
	j, err := OpenBolt(filepath.Join(f.TempDir(), "intents.db"), time.Second, nil)
	require.NoError(f, err)
	j.(*boltJournal).db.NoSync = true // it ends with the test
	client, err := New(j, Config{Contracts: []Contract{*plainContract()}, Transport: http.NewFileTransport(http.Dir(f.TempDir()))})
	require.NoError(f, err)
	f.Cleanup(func() { _ = client.Close() })
	f.Fuzz(func(t *testing.T, action, other string) {
		valid := len(action) > 0 && len(action) <= 1024 && slowUTF8(action)
		require.Equal(t, valid, checkAction(action) == nil, "%q", action)
		if !valid {
			require.ErrorIs(t, checkAction(action), ErrInvalidAction)
			_, err := client.Begin(action, requestTo(t, "POST", "https://api.test/"))
			require.ErrorIs(t, err, ErrInvalidAction)
			return
		}
		intent, err := client.Begin(action, requestTo(t, "POST", "https://api.test/"))
		require.NoError(t, err)
		require.Equal(t, action, intent.Action())
		found, err := client.Outcome(t.Context(), action)
		require.NoError(t, err)
		require.Equal(t, [2]string{action, intent.Key()}, [2]string{found.Action, found.Key})
		r, err := client.find(t.Context(), action)
		require.NoError(t, err)
		e, err := r.entry()
		require.NoError(t, err)
		again, err := decodeRecord(e)
		require.NoError(t, err)
		require.Equal(t, action, again.Action)
		require.Equal(t, action == anonymousPrefix+r.ID.String(), again.anonymous())
		require.NotEqual(t, uuid.Nil, r.ID)
		if other != action && checkAction(other) == nil {
			if found, err := client.Outcome(t.Context(), other); err == nil {
				require.NotEqual(t, intent.Key(), found.Key, "%q and %q are two", action, other)
			}
		}
	})
}
