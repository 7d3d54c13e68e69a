package search

import "github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"

// minTypo is the shortest word that may be misspelt, and longTypo the shortest that may have two typos. Shorter words
// have too many neighbours.
const (
	minTypo  = 4
	longTypo = 8

	maxNearest = 8 // words that a misspelt one may stand for
)

// nearest returns the terms of the words with the same first letter and the fewest edits.
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
