package search

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
		switch changes := distance(word, s.word); {
		case changes < allowed:
			allowed = changes
			found = append(found[:0], s.term)
		case changes == allowed && len(found) < maxNearest:
			found = append(found, s.term)
		}
	}
	return found
}

// distance counts the changes between two words, of at most 2*maxWord bytes each: a letter
// more, less or other, or two neighbours in the wrong order.
func distance(a, b string) int {
	var rows [3][2*maxWord + 1]int
	before, last, row := &rows[0], &rows[1], &rows[2]
	for j := range len(b) + 1 {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost = 1 + min(last[j], last[j+1], row[j])
			}
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				cost = min(cost, before[j-1]+1)
			}
			row[j+1] = cost
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

func abs(n int) int { return max(n, -n) }
