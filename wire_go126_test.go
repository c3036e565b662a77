//go:build go1.26

package oncehttp_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/oncehttp/oncehttp"
	"github.com/oncehttp/oncehttp/mockserver"
)

// One connection of net/http's, without a pool, as the base. It reports no
// traces: when it is gone nobody can tell whether anything was sent. T24
func TestASingleConnectionAsTheBaseSendsOnceAndProvesNothing(t *testing.T) {
	t.Parallel()
	srv := mockserver.Start(mockserver.Config{})
	defer srv.Close()
	conn, err := new(http.Transport).NewClientConn(t.Context(), "http", srv.URL[len("http://"):])
	require.NoError(t, err)
	defer conn.Close()
	c := open(t, journalPath(t), oncehttp.Config{Transport: roundTripper(conn.RoundTrip)})
	o, err := c.Do("pay-1", post(t, srv.URL+"/payments", payment))
	require.NoError(t, err)
	want{oncehttp.Confirmed, "", 1, false, false}.check(t, o)
	srv.Script(mockserver.Fault{Commit: true, See: mockserver.SeeClose})
	o, err = c.Do("pay-2", post(t, srv.URL+"/payments", payment))
	require.ErrorAs(t, err, new(*oncehttp.PendingError))
	want{oncehttp.Pending, oncehttp.Unknown, 4, true, false}.check(t, o)
	assert.Len(t, srv.Requests(), 2, "the second died with its connection")
}
