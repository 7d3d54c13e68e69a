package search

import (
	"cmp"
	"slices"
)

const (
	// coverDepth is how many of the best hits may change places.
	coverDepth = 20
	// coverWeight is the share of its score that a hit has to itself only as far as it answers
	// what those before it do not.
	coverWeight = 0.1
)

// cover puts the best hits into an order in which the first few answer as much of the query as
// possible together: of tools that fit nearly as well, one that adds something comes before one
// that repeats. The first hit stays the first, and no score changes.
func (f *finder) cover(hits []Hit) {
	if f.room <= 0 {
		return // so long a query has cost enough
	}
	hits = hits[:min(len(hits), coverDepth)]
	answers := make([][]float64, len(hits))
	best := make([]float64, len(f.words)) // of all hits, by word
	for i, hit := range hits {
		answers[i] = f.answer(int32(hit.Index))
		for word, score := range answers[i] {
			best[word] = max(best[word], score)
		}
	}
	covered := make([]float64, len(f.words)) // by the hits in their places, up to 1
	for place := range hits {
		next, top := place, 0.0
		if place > 0 {
			for i := place; i < len(hits); i++ {
				score := hits[i].Score * (1 - coverWeight*repeated(answers[i], covered))
				if score > top {
					next, top = i, score
				}
			}
		}
		for word, score := range answers[next] {
			if score > 0 {
				covered[word] = max(covered[word], score/best[word])
			}
		}
		moveTo(hits, next, place)
		moveTo(answers, next, place)
	}
}

// answer tells how much a document has of each word of the query.
func (f *finder) answer(document int32) []float64 {
	scores := make([]float64, len(f.words))
	for word, candidates := range f.words {
		for _, c := range candidates {
			list := f.postings[c.term]
			at, ok := slices.BinarySearchFunc(list, document, func(p posting, document int32) int {
				return cmp.Compare(p.document, document)
			})
			if ok {
				scores[word] = max(scores[word], c.weight*float64(list[at].strength))
			}
		}
	}
	return scores
}

// repeated is the share of an answer that is covered.
func repeated(answer, covered []float64) float64 {
	var again, all float64
	for word, score := range answer {
		again += score * covered[word]
		all += score
	}
	if all == 0 {
		return 0
	}
	return again / all
}

// moveTo takes an element to a place before it.
func moveTo[T any](list []T, from, to int) {
	element := list[from]
	copy(list[to+1:from+1], list[to:from])
	list[to] = element
}
