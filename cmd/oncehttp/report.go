package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
)

// A report is what is printed. It holds no credential, no whole key and no body.
type report struct {
	Contract string    `json:"contract"`
	Host     string    `json:"host"`
	Findings []finding `json:"checks"`
	Requests []sent    `json:"requests"`
	// Stopped says why the probe did not come to its end.
	Stopped string `json:"stopped,omitempty"`
}

// A sent is a request as the report tells of it.
type sent struct {
	// Key and Answer are the first 8 hexadecimal digits of the SHA-256 of the key
	// and of the answer's body. Empty: there was none.
	Key    string `json:"key_print,omitempty"`
	Status int    `json:"status,omitempty"`
	Answer string `json:"answer_print,omitempty"`
	// Effect is what the answer calls it.
	Effect string `json:"effect,omitempty"`
}

func sentLines(e evidence, shots []shot) []sent {
	lines := make([]sent, len(shots))
	for i, s := range shots {
		lines[i].Status = s.status
		if s.key != "" {
			lines[i].Key = printOf([]byte(s.key))
		}
		if len(s.body) > 0 {
			lines[i].Answer = printOf(s.body)
		}
		lines[i].Effect = clipped(e.name(s))
	}
	return lines
}

// clipped shortens what an API calls an effect, and keeps control characters out.
func clipped(name string) string {
	const most = 64
	if len(name) > most {
		name = name[:most] + "..."
	}
	quoted := strconv.QuoteToASCII(name)
	return quoted[1 : len(quoted)-1]
}

func (r report) count(v verdict) int {
	n := 0
	for _, f := range r.Findings {
		if f.Verdict == v {
			n++
		}
	}
	return n
}

func (r report) exit() int {
	switch {
	case r.count(contradicts) > 0:
		return exitContradicts
	case r.Stopped != "" || r.count(agrees) == 0:
		return exitNotDone
	}
	return exitAgrees
}

func (r report) print(w io.Writer, asJSON bool) {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		_ = e.Encode(r) // to where nobody reads
		return
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "check\tdeclared\tseen\tverdict")
	for _, f := range r.Findings {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", f.Check, f.Declared, f.Seen, f.Verdict)
	}
	t.Flush()
	fmt.Fprintln(w)
	for _, f := range r.Findings {
		if f.Note != "" {
			fmt.Fprintf(w, "%s: %s.\n", f.Check, f.Note)
		}
	}
	fmt.Fprintln(w, "\nrequests, with the first digits of the SHA-256 of key and answer:")
	t = tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for i, s := range r.Requests {
		fmt.Fprintf(t, "%d\tkey %s\t%d\tanswer %s\t%s\n", i+1, or(s.Key, "none"), s.Status, or(s.Answer, "none"), s.Effect)
	}
	t.Flush()
	if r.Stopped != "" {
		fmt.Fprintf(w, "\nnot carried out to its end: %s.\n", r.Stopped)
	}
	fmt.Fprintf(w, "\n%s at %s: %d agree, %d contradict, %d not declared, %d cannot tell.\n",
		r.Contract, r.Host, r.count(agrees), r.count(contradicts), r.count(notDeclared), r.count(cannotTell))
}

func or(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// printPlan tells beforehand what is sent; beside a JSON report, as to a person.
func printPlan(sh shell, o options, checks []check) {
	w := sh.stdout
	if o.json {
		w = sh.stderr
	}
	total := 0
	for _, k := range checks {
		if k.skip == "" {
			total += k.requests
		}
	}
	u := o.template.url
	fmt.Fprintf(w, "%d requests, each of which may have an effect: %s %s://%s%s, contract %s (facts of %s)\n",
		total, o.template.method, u.Scheme, u.Host, u.EscapedPath(), o.contract.Name, or(o.contract.AsOf, "no date"))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, k := range checks {
		if k.skip == "" {
			fmt.Fprintf(t, "  %d\t%s\t%s\n", k.requests, k.name, k.what)
		} else {
			fmt.Fprintf(t, "  0\t%s\tleft out: %s\n", k.name, k.skip)
		}
	}
	t.Flush()
	fmt.Fprintln(w)
}
