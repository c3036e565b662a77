//go:build linux

package disk

import (
	"strings"

	"github.com/oncehttp/oncehttp"
)

// poisons: after it the journal takes nothing until it is opened again.
func (f fault) poisons(c *call) bool {
	switch c.name {
	case "pwrite64", "ftruncate":
		return !f.full() && f.with != "error=EINTR"
	case "fdatasync":
		return true
	}
	return false
}

// judgeClient reads what a client with one caller said around a fault. What a
// poisoned journal cannot record is not sent, and what was sent is told as
// Pending, NotRecorded, with the answer that was seen, if it was a final one: a
// 500 is none.
func (f fault) judgeClient(events []event) (found findings) {
	armed, stopped := false, false
	sent, answered := map[string]bool{}, map[string]string{}
	for _, e := range events {
		if e.injected && e.end {
			armed = armed || f.poisons(e.call)
			continue
		}
		if e.name != "write" || e.end || e.args[0] != "1" {
			continue
		}
		line := strings.TrimSpace(e.args[1])
		word := strings.Fields(line)
		switch word[0] {
		case "sent":
			if armed || stopped {
				found.lie("it was sent, though the journal takes nothing: %s", line)
			}
			sent[word[1]] = true
			delete(answered, word[1])
		case "answered":
			answered[word[1]] = word[2]
		case "told":
			notRecorded := word[2] == "Pending" && word[3] == string(oncehttp.NotRecorded)
			switch {
			case armed && !notRecorded:
				found.lie("it was told as if it were recorded: %s", line)
			case notRecorded && !sent[word[1]] && word[6] == "0" && word[4] != "false":
				found.lie("it was not sent, and may have executed: %s", line)
			case notRecorded && answered[word[1]] != "" && answered[word[1]] != "500" && answered[word[1]] != word[7]:
				found.lie("the answer that was seen, %s, is not in %s", answered[word[1]], line)
			}
			stopped, armed = stopped || armed, false
		case "error":
			if answered[word[1]] != "" {
				found.lie("it was sent, and is told as if nothing was: %s", line)
			}
			if !strings.Contains(line, "journal") {
				found.lie("an error is not ErrJournal: %s", line)
			}
			stopped, armed = stopped || armed, false
		case "opened":
			stopped, armed = false, false
		default: // the fault met what comes between actions
			stopped, armed = stopped || armed, false
		}
	}
	return found
}
