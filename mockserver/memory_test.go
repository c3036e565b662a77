package mockserver

import (
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func pair(t *testing.T) (client, server *memoryConn) {
	client, server = memoryPair(memoryAddr("client"), memoryAddr("server"))
	t.Cleanup(func() { client.Close(); server.Close() })
	return client, server
}

func TestAMemoryConnClosesAsTCPDoes(t *testing.T) {
	t.Parallel()
	b := make([]byte, 10)

	client, server := pair(t)
	_, err := server.Write([]byte("last"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	n, err := client.Read(b)
	require.NoError(t, err)
	assert.Equal(t, "last", string(b[:n]))
	_, err = client.Read(b)
	assert.Equal(t, io.EOF, err)
	_, err = client.Write([]byte("x"))
	assert.ErrorIs(t, err, syscall.EPIPE)
	_, err = server.Read(b)
	assert.ErrorIs(t, err, net.ErrClosed)
	_, err = server.Write(b)
	assert.ErrorIs(t, err, net.ErrClosed)
	assert.ErrorIs(t, server.Close(), net.ErrClosed)

	client, server = pair(t)
	require.NoError(t, server.SetLinger(0))
	_, err = server.Write([]byte("last"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	_, err = client.Read(b)
	require.NoError(t, err, "what was written before the reset can be read")
	_, err = client.Read(b)
	assert.ErrorIs(t, err, syscall.ECONNRESET)
	_, err = client.Write([]byte("x"))
	assert.ErrorIs(t, err, syscall.ECONNRESET)

	client, server = pair(t)
	_, err = client.Write([]byte("unread"))
	require.NoError(t, err)
	require.NoError(t, server.Close())
	_, err = client.Read(b)
	assert.ErrorIs(t, err, syscall.ECONNRESET, "closing with bytes unread resets")
}

func TestAMemoryConnKeepsDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client, _ := pair(t)
		begin := time.Now()
		require.NoError(t, client.SetReadDeadline(begin.Add(time.Hour)))
		_, err := client.Read(make([]byte, 1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, time.Hour, time.Since(begin))

		require.NoError(t, client.SetWriteDeadline(begin.Add(2*time.Hour)))
		n, err := client.Write(make([]byte, memoryBuffer+1))
		assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		assert.Equal(t, memoryBuffer, n)
		assert.Equal(t, 2*time.Hour, time.Since(begin))

		var wg sync.WaitGroup
		require.NoError(t, client.SetDeadline(time.Time{}))
		wg.Go(func() {
			_, err := client.Read(make([]byte, 1))
			assert.ErrorIs(t, err, os.ErrDeadlineExceeded)
		})
		synctest.Wait()
		require.NoError(t, client.SetDeadline(time.Now().Add(-time.Second)))
		wg.Wait()
	})
}

func TestAMemoryConnCarriesMoreThanItsBuffer(t *testing.T) {
	t.Parallel()
	client, server := pair(t)
	const size = 10*memoryBuffer + 7
	go func() {
		_, _ = client.Write(make([]byte, size))
		_ = client.Close()
	}()
	b, err := io.ReadAll(server)
	require.NoError(t, err)
	assert.Len(t, b, size)
}
