package oncehttp_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

const (
	canary     = "c4n4ry-s3cr3t"      // of headers, userinfo, the query and foreign texts: never written
	bodyCanary = "b0dy-c4n4ry-s3cr3t" // of bodies: in the journal alone
)

// loud is everything that a client says while it works.
type loud struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *loud) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// say prints a value in every way that a program might.
func (l *loud) say(values ...any) {
	for _, v := range values {
		fmt.Fprintf(l, "%v\n%+v\n%#v\n%s\n", v, v, v, v)
		for err, ok := v.(error); ok && err != nil; err = errors.Unwrap(err) {
			if !strings.HasPrefix(fmt.Sprintf("%T", err), "*oncehttp.") {
				break // foreign: reached by unwrapping only
			}
			fmt.Fprintln(l, err)
		}
	}
}

func (l *loud) check(t testing.TB) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, secret := range []string{canary, bodyCanary} {
		if i := strings.Index(l.text.String(), secret); i >= 0 {
			assert.Fail(t, "a secret was said", "%s", l.text.String()[max(0, i-300):i+50])
		}
	}
	assert.NotZero(t, l.text.Len())
}

func (b *bench) secretRequest() *http.Request {
	b.Helper()
	base := strings.Replace(b.srv.URL, "://", "://user"+canary+":"+canary+"@", 1)
	req := post(b.T, base+"/p?api_key="+canary+"&sig="+canary+"&page=1#"+canary, `{"card":"`+bodyCanary+`"}`)
	for _, name := range []string{"Cookie", "Proxy-Authorization", "X-Api-Key", "X-Auth-Token", "X-Signature", "Dpop"} {
		req.Header.Set(name, canary)
	}
	return req
}

// C044, C045
func TestSecretsAreSentAndNeverSaidOrWritten(t *testing.T) {
	t.Parallel()
	answer := mockserver.Answer{Status: 201, Body: `{"echo":"` + bodyCanary + `"}`, Header: http.Header{"Set-Cookie": {"sid=" + canary}}}
	foreign := fmt.Errorf("dial http://u:%s@host: token %s", canary, canary)
	for name, tt := range map[string]struct {
		server mockserver.Config
		change func(*oncehttp.Config)
		sent   int
	}{
		"confirmed":  {mockserver.Config{Execute: func(*http.Request) mockserver.Answer { return answer }}, nil, 1},
		"rejected":   {script(mockserver.Fault{Status: 404, Header: answer.Header, Body: answer.Body}), nil, 1},
		"open":       {script(mockserver.Fault{Status: 503, Header: answer.Header, Body: answer.Body}.Always()), nil, 4},
		"lost":       {script(mockserver.Lost().Always()), nil, 4},
		"redirected": {script(mockserver.Redirect(307, "http://other.test/").With("Set-Cookie", canary)), nil, 1},
		"foreign error": {mockserver.Config{}, func(cfg *oncehttp.Config) {
			cfg.Transport = roundTripper(func(*http.Request) (*http.Response, error) { return nil, foreign })
		}, 0},
		"Authorize": {mockserver.Config{}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(*http.Request, bool) error { return foreign }
		}, 0},
		"Authorize changes": {mockserver.Config{}, func(cfg *oncehttp.Config) {
			cfg.Authorize = func(r *http.Request, _ bool) error { r.URL.Path = "/" + canary; return nil }
		}, 0},
		"refused": {mockserver.Config{}, func(cfg *oncehttp.Config) {
			cfg.Transport.(*http.Transport).Proxy = nil
			cfg.NewKey = func(string) (string, error) { return "", foreign }
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &loud{}
			change := tt.change
			if change == nil {
				change = func(*oncehttp.Config) {}
			}
			inBubble(t, tt.server, func(b *bench) {
				o, err := b.c.Do("pay-1", b.secretRequest())
				l.say(o, err)
				if o != nil && o.Err != nil {
					l.say(o.Err)
					fmt.Fprintln(l, o.Explain(), o.Err)
				}
				assert.Len(b, b.srv.Requests(), tt.sent)
				for _, q := range b.srv.Requests() {
					assert.Equal(b, canary, q.Header.Get("X-Api-Key"))
					assert.Contains(b, q.Header.Get("Authorization"), "Basic ")
					assert.Contains(b, q.Path, "api_key="+canary)
				}
				// Another payload, and everything that lists.
				other := b.secretRequest()
				other.Body, other.ContentLength = readCloser(`{"card":"`+bodyCanary+`!"}`), int64(len(bodyCanary)+12)
				o, err = b.c.Do("pay-1", other)
				l.say(o, err)
				for in, err := range b.c.Pending(b.Context()) {
					l.say(in, err, in.Outcome())
				}
				resp, err := b.c.RoundTrip(b.secretRequest())
				l.say(err)
				if resp != nil {
					require.NoError(b, resp.Body.Close())
					o, _ := oncehttp.OutcomeOf(resp)
					l.say(o)
				}
				require.NoError(b, b.c.Close())
				files, err := filepath.Glob(filepath.Join(filepath.Dir(b.path), "*"))
				require.NoError(b, err)
				for _, name := range files {
					text, err := os.ReadFile(name)
					require.NoError(b, err)
					assert.NotContains(b, strings.ReplaceAll(string(text), bodyCanary, ""), canary, name)
					info, err := os.Stat(name)
					require.NoError(b, err)
					assert.Equal(b, os.FileMode(0o600), info.Mode().Perm(), name)
				}
				l.check(b)
			}, change, func(cfg *oncehttp.Config) {
				cfg.Logger = slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
				cfg.OnEvent = func(e oncehttp.Event) { l.say(e) }
			})
		})
	}
}

// The key is an identifier that opens the stored answer: its print is said, and
// never the key.
// A session that an action begins goes on, though the journal knows nothing of it.
func TestACookieOfAnAnswerReachesTheCallersJarAndNotTheJournal(t *testing.T) {
	t.Parallel()
	answer := mockserver.Answer{Status: 201, Header: http.Header{"Set-Cookie": {"sid=" + canary}}}
	server := mockserver.Config{Execute: func(*http.Request) mockserver.Answer { return answer }}
	inBubble(t, server, func(b *bench) {
		for _, fromJournal := range []bool{false, true} {
			req := b.pay()
			resp, err := b.c.RoundTrip(req.WithContext(oncehttp.WithAction(req.Context(), "login-1")))
			require.NoError(b, err)
			require.NoError(b, resp.Body.Close())
			o, ok := oncehttp.OutcomeOf(resp)
			require.True(b, ok)
			assert.Equal(b, fromJournal, o.FromJournal)
			assert.Empty(b, o.Response.Header.Values("Set-Cookie"))
			if fromJournal {
				assert.Empty(b, resp.Cookies())
			} else if assert.Len(b, resp.Cookies(), 1) {
				assert.Equal(b, canary, resp.Cookies()[0].Value)
			}
		}
		assert.NotContains(b, b.journalBytes(), canary)
	})
}

func TestTheKeyIsNeverSaidWhole(t *testing.T) {
	t.Parallel()
	l := &loud{}
	inBubble(t, script(mockserver.Lost().Always()), func(b *bench) {
		o, err := b.c.Do("pay-1", b.pay())
		l.say(o, err)
		for in, err := range b.c.Pending(b.Context()) {
			l.say(in, err)
		}
		assert.NotContains(b, l.text.String(), o.Key)
		assert.NotContains(b, l.text.String(), `"amount"`)
		text, err := json.Marshal(o.State)
		require.NoError(b, err)
		assert.Equal(b, `"Pending"`, string(text))
	}, func(cfg *oncehttp.Config) {
		cfg.Logger = slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: slog.LevelDebug}))
		cfg.OnEvent = func(e oncehttp.Event) { l.say(e) }
	})
}

// C045: after a restart the credentials are not there, and nothing is sent
// without them.
func TestAfterARestartCredentialsMustComeBack(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503)), func(b *bench) {
		req := func() *http.Request {
			req := b.secretRequest()
			req.Header.Set("Authorization", "Bearer "+canary)
			return req
		}
		first, err := b.c.Do("pay-1", req())
		b.ruled(first, err)
		b.reopen()
		sleepUntil(first.RetryAt)
		outcomes := b.resume()
		require.Len(b, outcomes, 1)
		want{oncehttp.Pending, oncehttp.NeedsCredentials, 1, true, false}.check(b, outcomes[0])
		part := b.pay()
		part.URL, part.Header = req().URL, req().Header
		part.Body, part.ContentLength = req().Body, req().ContentLength
		part.Header.Del("X-Api-Key") // one is missing
		o, err := b.c.Do("pay-1", part)
		b.ruled(o, err)
		assert.Equal(b, oncehttp.NeedsCredentials, o.Reason)
		assert.ErrorContains(b, o.Err, "X-Api-Key")
		assert.Len(b, b.srv.Requests(), 1)
		o, err = b.c.Do("pay-1", req())
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
		assert.Equal(b, 1, b.srv.Effects(b.oneKey()))
	}, oneAttempt)
}

// A caller who has the credentials is not told that they are missing because a
// pass of Resume, which has none, was there first.
func TestACallerWithCredentialsBeatsAPassWithout(t *testing.T) {
	t.Parallel()
	inBubble(t, script(mockserver.Status(503)), func(b *bench) {
		withToken := func() *http.Request {
			req := b.pay()
			req.Header.Set("Authorization", "Bearer t")
			return req
		}
		first, err := b.c.Do("pay-1", withToken())
		b.ruled(first, err)
		b.reopen(slowToAuthorize(100 * time.Millisecond))
		sleepUntil(first.RetryAt)
		var pass sync.WaitGroup
		pass.Go(func() { b.resume() })
		time.Sleep(10 * time.Millisecond)
		o, err := b.c.Do("pay-1", withToken())
		b.ruled(o, err)
		want{oncehttp.Confirmed, "", 2, false, false}.check(b, o)
		pass.Wait()
	}, oneAttempt)
}
