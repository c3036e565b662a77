package contracts

import (
	"net"
	"slices"
	"strings"
	"time"

	"github.com/oncehttp/oncehttp"
)

// All returns the contracts of this package that name their hosts. Those of a
// standard, which many servers follow, do not: see [Hostless].
//
// A client may hold all of them: a request costs no more for it. The fields of a
// contract returned may be set; what its slices hold must not be changed.
func All() []oncehttp.Contract {
	return slices.DeleteFunc(every(), func(c oncehttp.Contract) bool { return len(c.Match.Hosts) == 0 })
}

// Hostless returns the contracts of this package that name no host, which a client
// refuses: those of a standard, and of APIs at their customers' own addresses. [On]
// gives them their hosts.
func Hostless() []oncehttp.Contract {
	return slices.DeleteFunc(every(), func(c oncehttp.Contract) bool { return len(c.Match.Hosts) > 0 })
}

// For returns the contracts that name a host, such as api.stripe.com or
// shop.myshopify.com; a port is ignored. If none does, it returns none. Which of
// them a request travels under depends on its path, method and body: the most
// specific one that matches (see [oncehttp.Match]).
func For(host string) []oncehttp.Contract {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return slices.DeleteFunc(every(), func(c oncehttp.Contract) bool {
		return !slices.ContainsFunc(c.Match.Hosts, func(pattern string) bool { return names(pattern, host) })
	})
}

// On returns a copy of the contract that names these hosts instead: for a
// standard, which names none, or for an API that is reached under another name. In
// a client that also holds the original, the copy needs a Name of its own.
func On(c oncehttp.Contract, hosts ...string) oncehttp.Contract {
	c.Match.Hosts = hosts
	return c
}

// names reports whether a host pattern, in which a * stands for one or more
// characters of a label, names the host.
func names(pattern, host string) bool {
	wanted, given := strings.Split(pattern, "."), strings.Split(host, ".")
	return slices.EqualFunc(wanted, given, func(p, label string) bool {
		before, after, open := strings.Cut(p, "*")
		if !open {
			return p == label
		}
		return len(label) > len(before)+len(after) && strings.HasPrefix(label, before) && strings.HasSuffix(label, after)
	})
}

// every returns all contracts, file by file.
func every() []oncehttp.Contract {
	return slices.Concat(
		stripe(), paypal(), cards(), processors(), regional(), banking(), revolut(), goCardless(), transfers(), issuing(), crypto(),
		aws(), google(), azure(), messaging(), ai(), commerce(), billing(), logistics(), work(), standards(),
	)
}

const (
	minute = time.Minute
	hour   = time.Hour
	day    = 24 * time.Hour
)

// inState makes the lookup believe only what is in one of the states.
func inState(l oncehttp.Lookup, at string, states ...string) oncehttp.Lookup {
	l.State, l.Is = at, states
	return l
}

func header(name string) oncehttp.Carrier {
	return oncehttp.Carrier{Kind: oncehttp.CarrierHeader, Name: name}
}

func jsonField(pointer string) oncehttp.Carrier {
	return oncehttp.Carrier{Kind: oncehttp.CarrierJSON, Name: pointer}
}

func formField(name string) oncehttp.Carrier {
	return oncehttp.Carrier{Kind: oncehttp.CarrierForm, Name: name}
}

func query(name string) oncehttp.Carrier {
	return oncehttp.Carrier{Kind: oncehttp.CarrierQuery, Name: name}
}

func marked(name, value string) oncehttp.Marker {
	return oncehttp.Marker{Headers: []string{name}, Values: []string{value}}
}
