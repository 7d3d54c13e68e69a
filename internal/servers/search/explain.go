package search

import (
	"cmp"
	"slices"
)

// maxReasons bounds the reasons for one document; weaker ones are left out.
const maxReasons = 12

// How says in what way a word of a document matches a word of a query.
type How string

// The ways in which words match.
const (
	SameWord    How = "same word"
	SameStem    How = "same stem"
	Synonym     How = "synonym"     // or translation
	Related     How = "related"     // of the same subject, or for what a thing is
	Misspelling How = "spelling"    // it was taken for misspelt
	ByServer    How = "server kind" // the tools of its server have the word
)

// Reason is why a document was found: a word of the query that it has.
type Reason struct {
	Word  string // of the query
	Found string // as the document has it
	Field string // where: "name", "title", "description", …
	How   How
	Share float64 // of the document's score. The bonuses of a clause and of a name are spread over the words.
}

// fieldNames are the names of the fields for people.
var fieldNames = [fieldCount]string{
	inName: "name", inTitle: "title", inDescription: "description",
	inParameter: "parameter", inParameterText: "parameter description", inChoice: "parameter value",
	inServer: "server", inServerText: "server description", inToolbox: "toolbox", inToolboxText: "toolbox description",
}

// Explain returns why Find found these documents, for each the strongest reason first. The index does not keep the
// documents: read returns one. It takes about as long as Find.
func (x *Index) Explain(query string, documents []int, read func(index int) Document) [][]Reason {
	reasons := make([][]Reason, len(documents))
	if x.documents == 0 || len(documents) == 0 {
		return reasons
	}
	e := explainer{needs: finder{Index: x, room: maxWork, found: make([]float64, x.documents)}}
	kind, needs := splitKind(cut(query, maxQuery))
	e.needs.note = func(w queryWord) { e.words = append(e.words, w) }
	lookups := e.needs.plan(parseQuery(needs))
	e.needs.answerOnce()
	e.scores = e.needs.scores(lookups)
	e.gains = make([]float64, x.documents)
	if kind != "" {
		words := slices.Concat(parseQuery(kind)...)
		copy(e.gains, e.scores)
		e.needs.addKind(words, e.gains, make([]float32, len(x.rarity)))
		for i := range e.gains {
			e.gains[i] -= e.scores[i]
		}
		e.kind = e.needs.forKind()
		e.kind.note = func(w queryWord) { e.kindWords = append(e.kindWords, w) }
		e.kind.plan([][]queryWord{words})
		e.kind.answerOnce()
	}
	for i, document := range documents {
		reasons[i] = e.explain(document, read(document))
	}
	return reasons
}

// explainer knows what the words of one query stand for.
type explainer struct {
	needs, kind      finder
	words, kindWords []queryWord // of these finders
	scores           []float64   // by document, without the kind of the server
	gains            []float64   // by document, of the kind of the server
}

// match is a word of the query that a document has.
type match struct {
	word   queryWord
	term   int32
	score  float64
	isKind bool
}

func (e *explainer) explain(document int, text Document) []Reason {
	matches := scaled(e.needs.matches(e.words, e.needs.postings, int32(document)), e.scores[document])
	if server := e.needs.servers.of[document]; e.gains[document] > 0 {
		ofKind := scaled(e.kind.matches(e.kindWords, e.kind.servers.postings, server), e.gains[document])
		for i := range ofKind {
			ofKind[i].isKind = true
		}
		matches = append(matches, ofKind...)
	}
	slices.SortStableFunc(matches, func(a, b match) int { return cmp.Compare(b.score, a.score) })
	spelt := e.spellings(text, matches)
	whole := e.scores[document] + e.gains[document]
	var reasons []Reason
	for _, m := range matches[:min(len(matches), maxReasons)] {
		reason := Reason{Word: m.word.text, How: e.needs.howMatches(m), Share: m.score / whole}
		switch at, ok := spelt[m.term]; {
		case ok:
			reason.Found, reason.Field = at.text, fieldNames[at.in]
			if reason.How == SameWord && at.text != m.word.text {
				reason.How = SameStem
			}
		case m.isKind: // another tool of the server has it
			reason.Found, reason.Field, reason.How = m.word.text, fieldNames[inServer], ByServer
		default:
			continue // unreachable, unless the document has changed
		}
		reasons = append(reasons, reason)
	}
	return reasons
}

// scaled spreads a score over the words that it is made of.
func scaled(matches []match, score float64) []match {
	sum := 0.0
	for _, m := range matches {
		sum += m.score
	}
	for i := range matches {
		matches[i].score *= score / sum
	}
	return matches
}

// matches returns for each word the best of the terms that a document has.
func (f *finder) matches(words []queryWord, postings [][]posting, document int32) (found []match) {
	for i, candidates := range f.words {
		best := match{word: words[i]}
		for _, c := range candidates {
			at, ok := slices.BinarySearchFunc(postings[c.term], document, func(p posting, d int32) int { return cmp.Compare(p.document, d) })
			if !ok {
				continue
			}
			if score := c.weight * float64(postings[c.term][at].strength); score > best.score {
				best.term, best.score = c.term, score
			}
		}
		if best.score > 0 {
			found = append(found, best)
		}
	}
	return found
}

// howMatches says how a term came to stand for a word.
func (x *Index) howMatches(m match) How {
	if own, ok := x.terms[m.word.stem]; ok && own == m.term {
		return SameWord // perhaps with another ending
	}
	for _, r := range knownWords().related[m.word.stem] {
		if other, ok := x.terms[r.stem]; !ok || other != m.term {
			continue
		}
		if r.weight == subjectWeight {
			return Related
		}
		return Synonym
	}
	return Misspelling
}

// spelt is how and where a document has a term.
type spelt struct {
	text string
	in   field
}

// spellings returns how and where a document has the terms of matches: of several fields that one which counts most.
func (e *explainer) spellings(text Document, matches []match) map[int32]spelt {
	found := make(map[int32]spelt, len(matches))
	for _, m := range matches {
		found[m.term] = spelt{in: fieldCount}
	}
	var words []word
	text.eachText(func(in field, content string) {
		words = appendWords(words[:0], cut(content, maxFieldText))
		for _, w := range words {
			term, known := e.needs.terms[stem(w.text)]
			before, wanted := found[term]
			if w.text == "" || !known || !wanted || before.in < fieldCount && fieldWeights[before.in] >= fieldWeights[in] {
				continue
			}
			found[term] = spelt{w.text, in}
		}
	})
	for term, at := range found {
		if at.in == fieldCount {
			delete(found, term)
		}
	}
	return found
}
