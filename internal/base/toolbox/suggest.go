package toolbox

import (
	"slices"
	"strings"
)

// Nearest returns up to limit candidates that a person may have meant by name, best first. Candidates that differ too
// much are left out.
func Nearest(name string, candidates []string, limit int) []string {
	type scored struct {
		name string
		cost int
	}
	wanted := strings.ToLower(name)
	var near []scored
	for _, candidate := range candidates {
		lower := strings.ToLower(candidate)
		cost := EditDistance(wanted, lower)
		if len(wanted) > 1 && strings.Contains(lower, wanted) { // a letter alone is in many names
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

// NearestTools returns the full references of tools with a similar name, in any form that a person may use.
func NearestTools(name string, tools []Ref) (near []string) {
	full := make(map[string][]string)
	var forms []string
	for _, ref := range tools {
		whole := ref.Toolbox + "/" + ref.Server + "/" + ref.Name
		for _, form := range []string{ref.Name, ref.Server + "/" + ref.Name, whole} {
			if full[form] == nil {
				forms = append(forms, form)
			}
			full[form] = append(full[form], whole)
		}
	}
	for _, form := range Nearest(name, forms, MaxNear) {
		for _, one := range full[form] {
			if !slices.Contains(near, one) && len(near) < MaxNear {
				near = append(near, one)
			}
		}
	}
	return near
}

// maxCompared is the longest text that is compared, in bytes; a longer one resembles no other text.
const maxCompared = 256

// EditDistance counts the edits from a to b: a byte inserted, deleted or replaced, or two neighbours swapped. The
// distance of texts longer than maxCompared is larger than any other.
func EditDistance(a, b string) int {
	if len(a) > maxCompared || len(b) > maxCompared {
		return 1 << 20
	}
	var rows [3][maxCompared + 1]uint16
	before, last, next := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = uint16(j)
	}
	for i := range len(a) {
		next[0] = uint16(i + 1)
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost = 1 + min(last[j], last[j+1], next[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			next[j+1] = cost
		}
		before, last, next = last, next, before
	}
	return int(last[len(b)])
}
