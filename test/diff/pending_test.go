package diff

import "maps"

// pending are the steps that differ still, with the reason. A step that is equal on every route
// is to be taken out: the test says so.
var pending = byStep(map[string][]string{})

// pendingOverHTTP are those that differ only where the server is reached over HTTP or SSE.
var pendingOverHTTP = with(pending, byStep(map[string][]string{}))

// pendingOfNpm is the same for the server of npm.
var pendingOfNpm = byStep(map[string][]string{})

// with joins two lists.
func with(some, more map[string]string) map[string]string {
	all := maps.Clone(some)
	maps.Copy(all, more)
	return all
}

// byStep turns reasons with their steps round.
func byStep(reasons map[string][]string) map[string]string {
	steps := make(map[string]string)
	for reason, names := range reasons {
		for _, name := range names {
			steps[name] = reason
		}
	}
	return steps
}
