package config

import (
	"maps"
	"slices"
	"time"
)

// DefaultSharedIdle is how long a shared workbench stays without a client.
const DefaultSharedIdle = time.Minute

// Shared says whether clients that start the program share one workbench.
type Shared struct {
	On   bool
	Idle time.Duration // after which the shared workbench ends that no client uses; never zero
}

var sharedKey = key{
	name: "shared", kinds: []kind{kindBoolean}, fallback: "false",
	description: "Lets all clients that start the program with this file use one workbench, which runs in the background, instead of one each. The same as --shared.",
}

var sharedIdleKey = key{
	name: "sharedIdle", kinds: []kind{kindString}, check: checkPositiveDuration, pattern: durationPattern, example: `"10m"`, fallback: `"1m"`,
	description: "After how long without a client the shared workbench ends, with its servers.",
}

func shared(root *node) Shared {
	s := Shared{On: root.get("shared").isTrue(), Idle: DefaultSharedIdle}
	root.duration("sharedIdle", &s.Idle)
	return s
}

// noted returns a lookup that notes the names that it was asked for, and those names,
// sorted.
func noted(lookup func(string) (string, bool)) (noting func(string) (string, bool), names func() []string) {
	seen := make(map[string]bool)
	noting = func(name string) (string, bool) {
		seen[name] = true
		return lookup(name)
	}
	return noting, func() []string { return slices.Sorted(maps.Keys(seen)) }
}
