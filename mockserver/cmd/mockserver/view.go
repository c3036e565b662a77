package main

import (
	"encoding/json"
	"html/template"
	"net/http"
	"strings"

	"github.com/oncehttp/oncehttp/mockserver"
)

const viewPath = "/.mockserver/"

// ledger is what the JSON view shows.
type ledger struct {
	Requests []mockserver.Request
	Effects  []mockserver.Effect
}

// withView serves the ledger below viewPath and the mock everywhere else.
func withView(mock *mockserver.Server) http.Handler {
	view := http.NewServeMux()
	view.HandleFunc("GET "+viewPath+"{$}", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_ = page.Execute(w, read(mock)) // the reader may have gone
	})
	view.HandleFunc("GET "+viewPath+"ledger.json", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		_ = out.Encode(read(mock)) // the reader may have gone
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, viewPath) {
			view.ServeHTTP(w, r)
			return
		}
		mock.ServeHTTP(w, r)
	})
}

// read takes the ledger without the credentials in it.
func read(mock *mockserver.Server) ledger {
	l := ledger{Requests: mock.Requests(), Effects: mock.EffectLog()}
	for _, q := range l.Requests {
		for _, name := range []string{"Authorization", "Proxy-Authorization", "Cookie"} {
			if q.Header[name] != nil {
				q.Header[name] = []string{"(sent)"}
			}
		}
	}
	return l
}

var page = template.Must(template.New("").Parse(`<!doctype html>
<title>mockserver</title>
<meta http-equiv="refresh" content="2">
<style>body{font:14px monospace;margin:2em}td,th{padding:.2em .8em;text-align:left;border-bottom:1px solid #ccc}</style>
<h1>{{len .Requests}} requests, {{len .Effects}} effects</h1>
<p><a href="ledger.json">as JSON</a></p>
<table>
<tr><th>#<th>time<th>request<th>key<th>fault<th>effect<th>answer
{{range .Requests}}<tr><td>{{.N}}<td>{{.Time.Format "15:04:05.000"}}<td>{{.Method}} {{.Path}}<td>{{.Key}}<td>{{.Fault}}<td>{{if .Effect}}yes{{end}}<td>{{if .Status}}{{.Status}}{{if .Replayed}} replayed{{end}}{{else if .Done}}none{{else}}…{{end}}
{{end}}</table>
`))
