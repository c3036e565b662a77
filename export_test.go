package oncehttp

import "net/http"

// NewContractSet lets tests outside of the package match requests as a client
// does.
func NewContractSet(cs []Contract) (*contractSet, error) { return newContractSet(cs) }

// Match is the contract of a request with this body, or nil.
func (s *contractSet) Match(req *http.Request, body []byte) *Contract {
	c, asks := s.match(req)
	if asks {
		c = s.matchBody(req, body)
	}
	return c
}
