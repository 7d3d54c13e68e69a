package search

import "github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"

// minTypo is the length from which a word may be misspelt, and longTypo that from which it
// may be so twice. Shorter words have too many neighbours.
const (
	minTypo  = 4
	longTypo = 8

	maxNearest = 8 // words that a misspelt one may stand for
)

// nearest returns the terms that a misspelt word may stand for: those of the words with the
// same first letter that take the fewest changes.
func (x *Index) nearest(word string) (found []int32) {
	allowed := 1
	if len(word) >= longTypo {
		allowed = 2
	}
	for _, s := range x.spellings[word[0]] {
		if len(s.word) < minTypo || abs(len(s.word)-len(word)) > allowed {
			continue
		}
		switch changes := toolbox.EditDistance(word, s.word); {
		case changes < allowed:
			allowed = changes
			found = append(found[:0], s.term)
		case changes == allowed && len(found) < maxNearest:
			found = append(found, s.term)
		}
	}
	return found
}

func abs(n int) int { return max(n, -n) }
