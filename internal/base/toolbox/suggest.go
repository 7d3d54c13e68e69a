package toolbox

import (
	"slices"
	"strings"
)

// Nearest returns up to limit of the candidates that a person may have meant by
// name, best first; candidates that are nothing like it are left out.
func Nearest(name string, candidates []string, limit int) []string {
	type scored struct {
		name string
		cost int
	}
	wanted := strings.ToLower(name)
	var near []scored
	for _, candidate := range candidates {
		lower := strings.ToLower(candidate)
		cost := distance(wanted, lower)
		if wanted != "" && strings.Contains(lower, wanted) {
			cost = min(cost, 1)
		}
		if cost <= max(1, max(len(wanted), len(lower))/3) {
			near = append(near, scored{candidate, cost})
		}
	}
	slices.SortStableFunc(near, func(a, b scored) int { return a.cost - b.cost })
	if len(near) > limit {
		near = near[:limit]
	}
	names := make([]string, len(near))
	for i, n := range near {
		names[i] = n.name
	}
	return names
}

// distance counts the single-byte edits, and swaps of neighbours, between a and b.
func distance(a, b string) int {
	const far = 1 << 20
	if len(a) > 256 || len(b) > 256 {
		return far
	}
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		next[0] = i
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			next[j] = min(last[j]+1, next[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				next[j] = min(next[j], before[j-2]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}
