package mockserver

import "slices"

// A queue hands out the faults of a script, one a request.
type queue struct {
	faults []Fault
}

func (q *queue) add(faults []Fault) {
	for _, f := range faults {
		if err := f.check(); err != nil {
			panic("mockserver: " + err.Error() + " in " + f.String())
		}
		q.faults = append(q.faults, f.clone())
	}
}

// next takes the fault of the next request; false when none is left.
func (q *queue) next() (Fault, bool) {
	if q == nil || len(q.faults) == 0 {
		return Fault{}, false
	}
	f := q.faults[0]
	switch {
	case f.Times > 1:
		q.faults[0].Times--
	case f.Times >= 0:
		q.faults = q.faults[1:]
	}
	return f.clone(), true
}

// scripts are the queues of a server. The narrowest that has a fault left
// decides: the key's own, every key's, the path's, then the server's.
type scripts struct {
	all     queue
	byKey   map[string]*queue
	byPath  map[string]*queue
	eachKey queue
}

func newScripts(faults []Fault) scripts {
	s := scripts{byKey: map[string]*queue{}, byPath: map[string]*queue{}}
	s.all.add(faults)
	return s
}

func (s *scripts) next(key, path string) Fault {
	if key != "" && s.byKey[key] == nil && len(s.eachKey.faults) > 0 {
		s.byKey[key] = &queue{faults: slices.Clone(s.eachKey.faults)}
	}
	for _, q := range []*queue{s.byKey[key], s.byPath[path], &s.all} {
		if f, ok := q.next(); ok {
			return f
		}
	}
	return Fault{}
}

// Script appends faults for the requests that follow, one each, in the order
// in which requests are received. When all are used the server is normal. It
// panics, as the other Script methods do, if a fault cannot be played.
func (s *Server) Script(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts.all.add(faults)
}

// ScriptKey appends faults for the requests that carry this key. They come
// before those of [Server.Script], which they do not use up.
func (s *Server) ScriptKey(key string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scripts.byKey[key] == nil {
		s.scripts.byKey[key] = &queue{}
	}
	s.scripts.byKey[key].add(faults)
}

// ScriptPath appends faults for the requests to this URL path. They come
// before those of [Server.Script].
func (s *Server) ScriptPath(path string, faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.scripts.byPath[path] == nil {
		s.scripts.byPath[path] = &queue{}
	}
	s.scripts.byPath[path].add(faults)
}

// ScriptEachKey gives every key that has no script of its own these faults, from
// its next request on.
func (s *Server) ScriptEachKey(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.scripts.eachKey = queue{}
	s.scripts.eachKey.add(faults)
}
