package config

import (
	"maps"
	"slices"
	"time"
)

// DefaultSharedIdle is the time after which a shared workbench without clients ends; sharedIdle.
const DefaultSharedIdle = time.Minute

// Shared configures whether clients that start the program share one workbench.
type Shared struct {
	On   bool
	Idle time.Duration // ends a shared workbench without clients; never zero
}

var sharedKey = key{
	name: "shared", kinds: []kind{kindBoolean}, fallback: "false",
	description: "Lets all clients that start the program with this file share one workbench in the background, instead of running one each. Same as --shared.",
}

var sharedIdleKey = key{
	name: "sharedIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"10m"`, fallback: `"1m"`,
	description: "How long the shared workbench runs without clients before it exits with its servers.",
}

func shared(root *node) Shared {
	s := Shared{On: root.get("shared").isTrue(), Idle: DefaultSharedIdle}
	root.duration("sharedIdle", &s.Idle)
	return s
}

// recordingLookup returns a lookup that records the requested names, and a function that returns those names, sorted.
func recordingLookup(lookup func(string) (string, bool)) (noting func(string) (string, bool), names func() []string) {
	seen := make(map[string]bool)
	noting = func(name string) (string, bool) {
		seen[name] = true
		return lookup(name)
	}
	return noting, func() []string { return slices.Sorted(maps.Keys(seen)) }
}
