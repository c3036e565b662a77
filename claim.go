package oncehttp

import (
	"bytes"
	"errors"
	"io"
	"net/http"
)

// claim finds the contract of a request, or nil. Where that depends on the body
// it reads it, whole, and returns the request with what was read in its place;
// on an error it has closed it.
func (c *Client) claim(req *http.Request) (*http.Request, *Contract, error) {
	contract, asks := c.contracts.match(req)
	if !asks {
		return req, contract, nil
	}
	body, err := readBody(req.Context(), req, c.cfg.MaxRequestBody)
	if err != nil {
		return nil, nil, err
	}
	if req.Body != nil && req.Body != http.NoBody {
		req = req.WithContext(req.Context()) // the caller's is never changed
		req.Body = io.NopCloser(bytes.NewReader(body))
	}
	return req, c.contracts.matchBody(req, body), nil
}

// claimStored finds the contract of today of a request in the journal, whose
// body it reads only where that depends on it. A body that cannot be opened, or
// is not there any more, cannot be sent either: the contract that it was begun
// under speaks for it.
func (c *Client) claimStored(f *flight, r record, req *http.Request) (*Contract, error) {
	contract, asks := c.contracts.match(req)
	if !asks {
		return contract, nil
	}
	body, err := c.requestBody(f, r)
	switch {
	case errors.Is(err, errSealed), errors.Is(err, ErrJournalCorrupt), errors.Is(err, ErrNotFound):
		return c.contracts.byName[r.Begun.Contract], nil
	case err != nil:
		return nil, err
	}
	return c.contracts.matchBody(req, body), nil
}
