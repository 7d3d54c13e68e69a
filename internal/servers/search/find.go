package search

import (
	"cmp"
	"slices"
)

// Bonuses on the score of a tool.
const (
	// clauseWeight is the bonus of the best tool for a clause, as a share of the highest score for the whole query. It
	// lets a request of several steps find a tool for each step.
	clauseWeight = 0.5
	// nameWeight is the bonus of a tool whose whole name is in the query: "read a file" means read_file rather than
	// read_file_lines.
	nameWeight = 0.2
)

// Find returns the tools that match a query, the best first, and of equals the earlier document. A nil filter admits
// all documents.
func (x *Index) Find(query string, filter func(index int) bool, limit int) []Hit {
	if x.documents == 0 || limit <= 0 {
		return nil
	}
	kind, needs := splitKind(cut(query, maxQuery))
	clauses := parseQuery(needs)
	finder := finder{Index: x, room: maxWork, found: make([]float64, x.documents)}
	lookups := finder.plan(clauses)
	named := make([]float32, len(x.rarity))
	finder.markNamed(named)
	finder.answerOnce()
	scores := finder.scores(lookups)
	if kind != "" {
		words := slices.Concat(parseQuery(kind)...)
		finder.addKind(words, scores, named)
		clauses = append(clauses, words)
	}
	for document, score := range scores {
		if score > 0 {
			scores[document] = score * (1 + nameWeight*x.nameShare(document, named))
		}
	}
	hits := best(scores, filter, limit)
	asked := x.asked(clauses)
	for i := range hits {
		hits[i].Score /= asked
	}
	return hits
}

// longRequest is the number of rare words that counts as a whole request. Longer requests describe circumstances or
// ask for several tools, so no tool has all of their words.
const longRequest = 8

// asked is the score of a document that is all about every word of a query.
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

// nameShare is the share of a document's name that is in the query.
func (x *Index) nameShare(document int, named []float32) float64 {
	var asked, all float64
	for _, term := range x.names[document] {
		asked += float64(named[term]) * x.rarity[term]
		all += x.rarity[term]
	}
	if all == 0 {
		return 0
	}
	return asked / all
}

// scores returns the scores of all documents for the clauses.
func (f *finder) scores(clauses [][]lookup) []float64 {
	whole := make([]float64, f.documents)
	clause := make([]float64, f.documents)
	bonus := make([]float64, f.documents) // how well a document fits its best clause, up to 1
	for _, lookups := range clauses {
		f.fit = f.fit[:0]
		for _, l := range lookups {
			for _, document := range f.find(l.word) {
				score := f.found[document]
				f.found[document] = 0
				if clause[document] == 0 {
					f.fit = append(f.fit, document)
				}
				clause[document] += score
				if l.first {
					whole[document] += score
				}
			}
		}
		if len(clauses) == 1 {
			return whole
		}
		top := 0.0
		for _, document := range f.fit {
			top = max(top, clause[document])
		}
		for _, document := range f.fit {
			bonus[document] = max(bonus[document], clause[document]/top)
			clause[document] = 0
		}
	}
	top := slices.Max(whole)
	for document := range whole {
		whole[document] += clauseWeight * top * bonus[document]
	}
	return whole
}

// best returns the documents with the highest scores, in order.
func best(scores []float64, filter func(index int) bool, limit int) []Hit {
	var hits []Hit
	for i, score := range scores {
		if score == 0 || len(hits) >= limit && score <= hits[limit-1].Score {
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
