package oncehttp_test

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// copyFile is cp, which leaves the original.
func copyFile(t testing.TB, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o600))
}

// another closes the client and opens what becomes of its journal.
func (b *bench) another(become func(path string) string, changes ...func(*oncehttp.Config)) {
	b.Helper()
	require.NoError(b, b.c.Close())
	b.path = become(b.path)
	b.reopen(changes...)
}

func copied(t testing.TB) func(path string) string {
	return func(path string) string {
		to := filepath.Join(t.TempDir(), "copy.db")
		copyFile(t, path, to)
		return to
	}
}

func adopt(cfg *oncehttp.Config)      { cfg.AdoptCopy = true }
func doNotAdopt(cfg *oncehttp.Config) { cfg.AdoptCopy = false }

func TestACopiedJournalSendsNothingUntilItIsAdopted(t *testing.T) {
	t.Parallel()
	for name, become := range map[string]func(t testing.TB, path string) string{
		"copied": func(t testing.TB, path string) string { return copied(t)(path) },
		"restored by a rename": func(t testing.TB, path string) string {
			copyFile(t, path, path+".backup")
			require.NoError(t, os.Rename(path+".backup", path))
			return path
		},
		"restored where it was deleted": func(t testing.TB, path string) string {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.WriteFile(path, text, 0o600)) // often under the same inode number
			return path
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Lost(), mockserver.Status(401)), func(b *bench) {
				first := b.do()
				require.Equal(b, oncehttp.Unknown, first.Reason)
				refused, err := b.c.Do("pay-3", b.pay())
				b.ruled(refused, err)
				require.Equal(b, oncehttp.Unauthorized, refused.Reason)
				settled, err := b.c.Do("pay-4", b.pay())
				b.ruled(settled, err)
				second, err := b.c.Begin("pay-2", b.pay())
				require.NoError(b, err)
				require.False(b, second.Outcome().MayHaveExecuted)
				sent := len(b.srv.Requests())

				var log bytes.Buffer
				b.cfg.Logger = slog.New(slog.NewTextHandler(&log, nil))
				b.another(func(path string) string { return become(b.T, path) })
				assert.Contains(b, log.String(), "AdoptCopy")
				for range 2 {
					for _, action := range []string{"pay-1", "pay-2"} {
						o, err := b.c.Outcome(b.Context(), action)
						require.NoError(b, err)
						assert.Equal(b, oncehttp.Pending, o.State)
						assert.Equal(b, oncehttp.Copied, o.Reason)
						assert.True(b, o.MayHaveExecuted, "the original may have sent %s", action)
						assert.Contains(b, o.Explain(), "AdoptCopy")
						o, err = b.c.Do(action, b.pay())
						b.ruled(o, err)
						assert.Equal(b, oncehttp.Copied, o.Reason)
						assert.True(b, o.MayHaveExecuted)
						assert.Zero(b, o.RetryAt)
					}
					time.Sleep(time.Minute)
					outcomes := b.resume()
					assert.Len(b, outcomes, 2)
					for _, o := range outcomes {
						assert.Equal(b, oncehttp.Copied, o.Reason)
						assert.True(b, o.MayHaveExecuted)
					}
					o, err := b.c.Do("pay-4", b.pay())
					b.ruled(o, err)
					assert.Equal(b, settled.Response, o.Response, "what is settled is known")

					_, err = b.c.Do("pay-5", b.pay())
					require.ErrorIs(b, err, oncehttp.ErrCopied)
					var pending *oncehttp.PendingError
					require.NotErrorAs(b, err, &pending)
					_, err = b.c.Outcome(b.Context(), "pay-5")
					require.ErrorIs(b, err, oncehttp.ErrNotFound)
					_, err = b.c.RoundTrip(b.pay())
					require.ErrorIs(b, err, oncehttp.ErrCopied)
					require.ErrorIs(b, b.c.Compact(b.Context()), oncehttp.ErrCopied)
					require.Len(b, b.srv.Requests(), sent)
					b.reopen() // a restart does not make it less of a copy
				}
				resp, err := b.c.RoundTrip(b.request(http.MethodGet, "/payments", ""))
				require.NoError(b, err)
				require.NoError(b, resp.Body.Close())

				b.reopen(adopt)
				o, err := b.c.Outcome(b.Context(), "pay-2")
				require.NoError(b, err)
				assert.Equal(b, oncehttp.Unknown, o.Reason)
				assert.True(b, o.MayHaveExecuted)
				for _, o := range b.resume() {
					assert.Equal(b, oncehttp.Confirmed, o.State)
				}
				assert.Equal(b, 1, b.srv.Effects(first.Key))
				assert.Equal(b, 1, b.srv.Effects(second.Key()))
				o, err = b.c.Do("pay-3", b.pay())
				b.ruled(o, err)
				assert.Equal(b, oncehttp.Confirmed, o.State)
				require.NoError(b, b.c.Compact(b.Context()))
				b.reopen(doNotAdopt)
				o, err = b.c.Do("pay-5", b.pay())
				b.ruled(o, err)
				assert.Equal(b, oncehttp.Confirmed, o.State, "it is a journal like any other now")
			}, oneAttempt)
		})
	}
}

func TestAJournalUnderAnotherNameIsNoCopy(t *testing.T) {
	t.Parallel()
	for name, become := range map[string]func(from, to string) error{"moved": os.Rename, "linked": os.Link, "linked by name": os.Symlink} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			inBubble(t, script(mockserver.Lost()), func(b *bench) {
				b.do()
				b.another(func(path string) string {
					require.NoError(b, become(path, path+".other"))
					return path + ".other"
				})
				time.Sleep(time.Minute)
				resumed := b.resume()
				require.Len(b, resumed, 1)
				assert.Equal(b, oncehttp.Confirmed, resumed[0].State)
				assert.Equal(b, 2, resumed[0].Attempts)
			}, oneAttempt)
		})
	}
}

func TestWhatWasUnresolvedInACopyCountsAsSentSinceItWasBegun(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		begun := time.Now()
		in, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		time.Sleep(time.Hour)
		b.another(copied(b.T), adopt)
		for range 2 {
			o := b.known()
			want{oncehttp.Pending, oncehttp.Unknown, 0, true, false}.check(b, o)
			assert.Equal(b, begun.Add(24*time.Hour*9/10-b.cfg.Retry.AttemptTimeout).UTC(), o.SafeUntil.UTC())
			require.NoError(b, b.c.Compact(b.Context()))
			b.reopen(doNotAdopt)
		}
		time.Sleep(24 * time.Hour)
		o := b.do()
		want{oncehttp.Pending, oncehttp.KeyExpired, 0, true, false}.check(b, o)
		assert.Equal(b, in.Key(), o.Key)
		assert.Empty(b, b.srv.Requests())
	})
}

func TestAnUnprotectedIntentOfACopyIsNeverSentByTheCopy(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(401)), func(b *bench) {
		o, err := b.c.Do("pay-2", b.pay())
		b.ruled(o, err)
		require.Equal(b, oncehttp.Rejected, o.State)
		_, err = b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		b.another(copied(b.T), adopt)
		o, err = b.c.Do("pay-3", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State, "what is begun after the adoption is sent")
		_, err = b.c.Begin("pay-4", b.pay())
		require.NoError(b, err)
		b.reopen(doNotAdopt)
		for _, action := range []string{"pay-1", "pay-2"} {
			o, err := b.c.Do(action, b.pay())
			b.ruled(o, err)
			assert.Equal(b, oncehttp.Pending, o.State)
			assert.True(b, o.MayHaveExecuted)
		}
		require.Len(b, b.srv.Requests(), 2)
		o, err = b.c.Do("pay-4", b.pay())
		b.ruled(o, err)
		assert.Equal(b, oncehttp.Confirmed, o.State, "it was begun after the adoption")
	}, unprotected)
}

func TestACopyOfAnAdoptedCopyIsACopyAgain(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		b.another(copied(b.T), adopt)
		_, err := b.c.Begin("pay-1", b.pay())
		require.NoError(b, err)
		require.False(b, b.known().MayHaveExecuted)
		b.another(copied(b.T), doNotAdopt)
		want{oncehttp.Pending, oncehttp.Copied, 0, true, false}.check(b, b.known())
		b.reopen(adopt)
		want{oncehttp.Pending, oncehttp.Unknown, 0, true, false}.check(b, b.known())
	})
}

func TestAPersonMayDecideInACopy(t *testing.T) {
	t.Parallel()
	inBubble(t, mockserver.Config{}, func(b *bench) {
		for _, action := range []string{"pay-1", "pay-2"} {
			_, err := b.c.Begin(action, b.pay())
			require.NoError(b, err)
		}
		b.another(copied(b.T))
		no := oncehttp.Resolution{State: oncehttp.Rejected, By: "ada", Why: "the original is gone"}
		require.ErrorIs(b, b.c.Resolve(b.Context(), "pay-1", no), oncehttp.ErrInFlight)
		no.Force = true
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", no))
		no.Force = false
		require.NoError(b, b.c.Resolve(b.Context(), "pay-1", no), "a repeat of the word changes nothing")
		require.NoError(b, b.c.Resolve(b.Context(), "pay-2", oncehttp.Resolution{State: oncehttp.Confirmed, By: "ada"}))
		b.reopen(adopt)
		assert.Equal(b, oncehttp.Rejected, b.known().State)
		assert.Empty(b, b.resume())
	})
}
