package search

// maxWork bounds the index entries that one query reads. Beyond the bound, words are looked up without related words;
// beyond twice the bound, no further words are looked up.
const maxWork = 500_000

// everywhere is the number of documents up to which every word is looked up.
const everywhere = 100

// againWeight is the weight of a tool's term for further words of a query that it matches: "web", "website" and
// "browser" do not mean three pages.
const againWeight = 0.3

// finder looks up the words of one query.
type finder struct {
	*Index
	room   int             // entries of the index that may still be looked at
	typos  int             // words that were taken for misspelt
	words  [][]candidate   // the terms that stand for each different word
	note   func(queryWord) // told of each of words; nil unless somebody asks for reasons
	found  []float64       // by document; all zero between two words
	having []int32         // the documents that have the word at hand
	fit    []int32         // the documents that have a word of the clause at hand
}

// lookup is a word to look up for a clause.
type lookup struct {
	word  int  // its place in finder.words
	first bool // it is in no clause before
}

// plan returns the words to look up for each clause, each once.
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
				if f.note != nil {
					f.note(w)
				}
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

// isEverywhere reports whether a word that only asks is too frequent to be worth its cost.
func (f *finder) isEverywhere(stem string) bool {
	term, ok := f.terms[stem]
	return ok && len(f.postings[term]) > max(everywhere, f.documents/10)
}

// markNamed records for each term how much the query asks for it, up to 1.
func (f *finder) markNamed(named []float32) {
	for _, candidates := range f.words {
		for _, c := range candidates {
			named[c.term] = max(named[c.term], float32(min(1, c.weight/f.rarity[c.term])))
		}
	}
}

// answerOnce gives a term that matches several words its full weight for only one of them, for which it counts most.
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

// find returns the documents that match a word. Their scores are in found, which the caller clears.
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
