//go:build go1.26

package wire

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/http2"
)

// single is one connection of net/http's as a base. It has no pool, and so
// nothing to send again by. T24
type single struct{ *http.ClientConn }

func (s single) CloseIdleConnections() { s.Close() }

func TestASingleConnectionIsSentToOnceAndProvesNothingWhenItIsGone(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		script script
		want   expect
	}{
		"answered":                {script{whole: (*conn).answer}, confirmed},
		"GOAWAY below the stream": {script{head: goesAway(1, http2.ErrCodeNo)}, perhapsSent},
		"refused":                 {script{head: resets(http2.ErrCodeRefusedStream)}, refused},
		"gone":                    {script{whole: (*conn).hangUp}, perhapsSent},
	} {
		for _, sh := range shapes {
			t.Run(fmt.Sprintf("%s/%s", name, sh), func(t *testing.T) {
				t.Parallel()
				base, scheme := transport(ways[0])
				s := serveFrames(t, true, tt.script)
				cc, err := base.(*http.Transport).NewClientConn(t.Context(), "https", s.addr)
				require.NoError(t, err)
				c := call{shape: sh, want: tt.want(sh), body: payment, base: single{cc}, url: scheme + s.addr, timeout: timely}
				c.run(t, s)
				assert.Positive(t, s.now().heads)
			})
		}
	}
}
