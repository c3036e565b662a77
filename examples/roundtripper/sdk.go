package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// sdk stands for a vendor's client library. It takes an *http.Client, and
// knows nothing of oncehttp.
type sdk struct {
	http *http.Client
	base string
}

// charge makes a charge and returns its id.
func (s sdk) charge(ctx context.Context, amount int) (string, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, s.base+"/charges", strings.NewReader(fmt.Sprintf(`{"amount":%d}`, amount)))
	if err != nil {
		return "", err
	}
	req.Header.Set("Content-Type", "application/json")
	var made struct{ ID string }
	if err := s.call(req, &made); err != nil {
		return "", fmt.Errorf("sdk: charge: %w", err)
	}
	return made.ID, nil
}

// list reads, and changes nothing.
func (s sdk) list(ctx context.Context) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.base+"/charges", nil)
	if err != nil {
		return err
	}
	var ignored any
	return s.call(req, &ignored)
}

func (s sdk) call(req *http.Request, into any) error {
	resp, err := s.http.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	if resp.StatusCode >= 400 {
		return fmt.Errorf("the API says %s", resp.Status)
	}
	return json.Unmarshal(body, into)
}
