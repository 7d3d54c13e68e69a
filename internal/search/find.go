package search

import (
	"cmp"
	"slices"
)

// clauseWeight is how much the tool that fits a clause best gains, as a share of the best
// score for the whole query. It lets a request of several steps find a tool for each.
const clauseWeight = 0.5

// Find returns the tools that fit a query, the best first, and in the order of the
// documents where two fit equally well. A nil filter lets all documents through.
func (x *Index) Find(query string, filter func(index int) bool, limit int) []Hit {
	clauses := x.parse(query)
	hits := best(x.scores(clauses), filter, limit)
	asked := x.asked(clauses)
	for i := range hits {
		hits[i].Score /= asked
	}
	return hits
}

// longRequest is the number of rare words that counts as a whole request. No tool has all
// words of a longer one, which tells of circumstances or asks for several tools.
const longRequest = 8

// asked is the score that a document would have which has all words of a query in plenty.
func (x *Index) asked(clauses [][]queryWord) (sum float64) {
	rarest := rarity(0, x.documents)
	seen := make(map[string]bool)
	for _, words := range clauses {
		for _, w := range words {
			if seen[w.stem] {
				continue
			}
			seen[w.stem] = true
			if term, ok := x.terms[w.stem]; ok {
				sum += w.weight * x.rarity[term]
			} else {
				sum += w.weight * rarest
			}
		}
	}
	return min(sum, longRequest*rarest)
}

// scores rates all documents.
func (x *Index) scores(clauses [][]queryWord) []float64 {
	whole := make([]float64, x.documents)
	clause := make([]float64, x.documents)
	bonus := make([]float64, x.documents) // how well a document fits its best clause, up to 1
	finder := finder{Index: x, found: make([]float64, x.documents)}
	seen := make(map[string]bool)
	for _, words := range clauses {
		for _, w := range words {
			first := !seen[w.stem]
			seen[w.stem] = true
			for _, document := range finder.find(w) {
				score := finder.found[document]
				finder.found[document] = 0
				clause[document] += score
				if first {
					whole[document] += score
				}
			}
		}
		if len(clauses) == 1 {
			return whole
		}
		top := highest(clause)
		for document, score := range clause {
			if score > 0 {
				bonus[document] = max(bonus[document], score/top)
				clause[document] = 0
			}
		}
	}
	top := highest(whole)
	for document := range whole {
		whole[document] += clauseWeight * top * bonus[document]
	}
	return whole
}

// finder looks up the words of one query.
type finder struct {
	*Index
	typos  int       // words that were taken for misspelt
	found  []float64 // by document; all zero between two words
	having []int32   // the documents that have the word at hand
}

// find returns the documents that have a word, or one that stands for it. Their scores for
// it are in found, which the caller clears.
func (f *finder) find(w queryWord) []int32 {
	f.having = f.having[:0]
	for _, c := range f.expand(w) {
		for _, p := range f.postings[c.term] {
			score := c.weight * float64(p.strength)
			before := f.found[p.document]
			if before == 0 {
				f.having = append(f.having, p.document)
			}
			if before < score {
				f.found[p.document] = score
			}
		}
	}
	return f.having
}

func highest(scores []float64) (top float64) {
	for _, score := range scores {
		top = max(top, score)
	}
	return top
}

// best returns the documents with the highest scores in order.
func best(scores []float64, filter func(index int) bool, limit int) []Hit {
	var hits []Hit
	for i, score := range scores {
		if score == 0 || len(hits) >= limit && (limit <= 0 || score <= hits[limit-1].Score) {
			continue
		}
		if filter != nil && !filter(i) {
			continue
		}
		if len(hits) == limit {
			hits = hits[:limit-1]
		}
		at, _ := slices.BinarySearchFunc(hits, score, func(hit Hit, score float64) int {
			if hit.Score >= score { // of equals the earlier document comes first
				return -1
			}
			return cmp.Compare(score, hit.Score)
		})
		hits = slices.Insert(hits, at, Hit{i, score})
	}
	return hits
}
