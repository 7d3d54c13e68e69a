package search

import (
	"strings"
	"unicode/utf8"
)

// Limits of the work for one query.
const (
	maxQuery      = 4 << 10 // bytes; the rest is not looked at
	maxQueryWords = 200
	maxTypos      = 8 // words that are compared with all terms of their letter
)

// queryWord is a word that is looked for.
type queryWord struct {
	text   string
	stem   string
	weight float64
	// expand says that words that mean the same are looked for too.
	expand bool
}

// parse splits a query into its clauses, which may ask for different tools.
func (x *Index) parse(query string) (clauses [][]queryWord) {
	query = cut(query, maxQuery)
	var clause []queryWord
	meaningful := false // whether the clause has a word that does not only ask
	end, count := 0, 0
	before := "" // the word before, if the next one may be joined to it
	var quotes quotes
	for _, w := range appendWords(nil, query) {
		if count++; count > maxQueryWords {
			break
		}
		if !w.compound {
			gap := query[end:w.at]
			end = w.end
			quotes.pass(gap)
			if !w.part && !quotes.open && isBreak(gap, w.text) {
				before = ""
				if meaningful {
					clauses = append(clauses, clause)
					clause, meaningful = nil, false
				}
			}
		}
		if w.text == "" {
			before = ""
			continue
		}
		next := weigh(w, quotes.open)
		clause = append(clause, next)
		switch {
		case !next.expand:
			before = ""
			continue
		case w.part:
			continue
		case before != "":
			if _, ok := x.terms[stem(before+w.text)]; ok {
				clause = append(clause, queryWord{before + w.text, stem(before + w.text), next.weight * joinedWeight, false})
			}
		}
		meaningful = true
		before = w.text
	}
	if last := len(clauses) - 1; last >= 0 && !meaningful {
		clauses[last] = append(clauses[last], clause...)
		return clauses
	}
	return append(clauses, clause)
}

func weigh(w word, quoted bool) queryWord {
	next := queryWord{text: w.text, stem: stem(w.text), weight: 1, expand: true}
	switch {
	case requestWords[next.stem]:
		next.weight, next.expand = requestWeight, false
	case commonWords[next.stem]:
		next.weight = commonWeight
	}
	if w.part {
		next.weight *= partWeight
	}
	if quoted {
		next.weight *= quotedWeight
	}
	return next
}

// isBreak reports whether a clause ends in the gap before a word. A mark without a space
// belongs to a name, a number or an address.
func isBreak(gap, next string) bool {
	return strings.ContainsAny(gap, " \n") && strings.ContainsAny(gap, ".?!;,:\n") ||
		next == "and" || next == "then" || next == "or"
}

// quotes tells whether a place of a text is within quotes.
type quotes struct{ open bool }

// pass goes over what stands between two words.
func (q *quotes) pass(gap string) {
	for i, r := range gap {
		switch r {
		case '"', '`':
			q.open = !q.open
		case '“', '„', '«':
			q.open = true
		case '”', '»':
			q.open = false
		case '\'':
			// Alone between two letters it is an apostrophe.
			if len(gap) > 1 {
				q.open = i+1 == len(gap) || !q.open && isSpaceBefore(gap, i)
			}
		}
	}
}

func isSpaceBefore(gap string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(gap[:i])
	return r == ' ' || r == '('
}
