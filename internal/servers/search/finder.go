package search

// maxWork bounds the entries of the index that are looked at for one query. A query that needs
// more has its other words looked up without those that may stand for them, and as soon as it
// has used that much again, not at all.
const maxWork = 500_000

// everywhere is the number of documents up to which every word is looked up.
const everywhere = 100

// againWeight is how much a term of the tools counts for further words of a query, if it stands
// for several: who says web, website and browser does not mean a page three times.
const againWeight = 0.3

// finder looks up the words of one query.
type finder struct {
	*Index
	room   int           // entries of the index that may still be looked at
	typos  int           // words that were taken for misspelt
	words  [][]candidate // the terms that stand for each different word
	found  []float64     // by document; all zero between two words
	having []int32       // the documents that have the word at hand
	fit    []int32       // the documents that have a word of the clause at hand
}

// lookup is a word of a clause.
type lookup struct {
	word  int  // its place in finder.words
	first bool // it is in no clause before
}

// plan says which words are looked up for each clause. A word counts once in a clause.
func (f *finder) plan(clauses [][]queryWord) [][]lookup {
	places := make(map[string]int)
	planned := make([][]lookup, len(clauses))
	meaningful := isMeaningful(clauses)
	for i, words := range clauses {
		inClause := make(map[int]bool)
		for _, w := range words {
			if w.asks && meaningful && f.isEverywhere(w.stem) {
				continue
			}
			place, known := places[w.stem]
			if !known {
				if f.room <= -maxWork {
					continue
				}
				place = len(f.words)
				places[w.stem] = place
				f.words = append(f.words, f.expand(w))
			}
			if inClause[place] || known && f.room <= 0 {
				continue
			}
			inClause[place] = true
			for _, c := range f.words[place] {
				f.room -= len(f.postings[c.term])
			}
			planned[i] = append(planned[i], lookup{place, !known})
		}
	}
	return planned
}

// isMeaningful reports whether a query has a word that does not only ask.
func isMeaningful(clauses [][]queryWord) bool {
	for _, words := range clauses {
		for _, w := range words {
			if !w.asks {
				return true
			}
		}
	}
	return false
}

// isEverywhere reports whether so many documents have a word that to look at them all costs
// more than a word that only asks can tell.
func (f *finder) isEverywhere(stem string) bool {
	term, ok := f.terms[stem]
	return ok && len(f.postings[term]) > max(everywhere, f.documents/10)
}

// markNamed notes for each term how much it was asked for, up to 1.
func (f *finder) markNamed(named []float32) {
	for _, candidates := range f.words {
		for _, c := range candidates {
			named[c.term] = max(named[c.term], float32(min(1, c.weight/f.rarity[c.term])))
		}
	}
}

// answerOnce lets a term that stands for several words count in full only for the one for
// which it counts most.
func (f *finder) answerOnce() {
	type claim struct {
		word   int
		weight float64
	}
	claims := make(map[int32]claim)
	for word, candidates := range f.words {
		for _, c := range candidates {
			if c.weight > claims[c.term].weight {
				claims[c.term] = claim{word, c.weight}
			}
		}
	}
	for word, candidates := range f.words {
		for i, c := range candidates {
			if claims[c.term].word != word {
				candidates[i].weight *= againWeight
			}
		}
	}
}

// find returns the documents that have a word, or one that stands for it. Their scores for
// it are in found, which the caller clears.
func (f *finder) find(word int) []int32 {
	f.having = f.having[:0]
	for _, c := range f.words[word] {
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
