package search

import (
	"strings"
	"unicode/utf8"
)

// Limits of the work for one query.
const (
	maxQuery      = 4 << 10 // bytes; the rest is not looked at
	maxQueryWords = 200     // words of a query; further ones are ignored
	maxClauses    = 32      // what follows belongs to the last one
	maxTypos      = 8       // words that are compared with all terms of their letter
	maxQuoted     = 100     // bytes in quotes; longer text is not an argument, or the quote has no end
)

// queryWord is a word to look up.
type queryWord struct {
	text   string
	stem   string
	weight float64
	asks   bool // only asks for something
}

// parseQuery splits a query into its clauses, which may ask for different tools.
func parseQuery(query string) (clauses [][]queryWord) {
	query = cut(query, maxQuery)
	var clause []queryWord
	meaningful := false // whether the clause has a word that does not only ask
	end := 0            // of the word before
	quoted := 0         // the end of the text in quotes
	for count, w := range appendWords(nil, query) {
		if count == maxQueryWords {
			break
		}
		if !w.compound {
			end = min(end, w.at) // pairs of characters overlap
			gap := query[end:w.at]
			quoted = quotedUntil(query, max(end, quoted), w.at, quoted)
			end = w.end
			if !w.part && meaningful && w.at >= quoted && isBreak(gap, w.text) && len(clauses)+1 < maxClauses {
				clauses = append(clauses, clause)
				clause, meaningful = nil, false
			}
		}
		if w.text != "" {
			next := weigh(w, w.at < quoted)
			clause = append(clause, next)
			meaningful = meaningful || !next.asks && !w.part
		}
	}
	if last := len(clauses) - 1; last >= 0 && !meaningful {
		clauses[last] = append(clauses[last], clause...)
		return clauses
	}
	return append(clauses, clause)
}

func weigh(w word, quoted bool) queryWord {
	next := queryWord{text: w.text, stem: stem(w.text), weight: 1}
	switch {
	case knownWords().request[next.stem]:
		next.weight, next.asks = requestWeight, true
	case knownWords().common[next.stem]:
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

// isBreak reports whether a clause ends in the gap before a word. Punctuation without a space belongs to a name, a
// number or an address.
func isBreak(gap, next string) bool {
	return strings.ContainsAny(gap, " \n") && strings.ContainsAny(gap, ".?!;,:\n") ||
		strings.Contains(gap, " + ") || strings.Contains(gap, " / ") ||
		next == "and" || next == "then" || next == "or"
}

// closings maps opening quotes to closing quotes.
var closings = map[rune]string{'"': `"`, '`': "`", '\'': "'", '“': "”", '„': "“", '«': "»"}

// quotedUntil returns the end of the quotes that begin between two offsets of a query, or otherwise if none do.
func quotedUntil(query string, start, end, otherwise int) int {
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(query[i:])
		closing, ok := closings[r]
		inside := i + size
		if ok && (r != '\'' || i == 0 || strings.ContainsRune(" (\n", rune(query[i-1]))) { // else an apostrophe
			if length := strings.Index(cut(query[inside:], maxQuoted), closing); length >= 0 {
				inside += length + len(closing)
			}
			if inside > end {
				return inside
			}
		}
		i = inside
	}
	return otherwise
}

// maxKind is the longest text, in bytes, that can name a kind of server.
const maxKind = 120

// splitKind separates the kind of server that is wanted from the task, as agents write them: "maps or navigation; find a
// bicycle route".
func splitKind(query string) (kind, needs string) {
	kind, needs, ok := strings.Cut(query, "; ")
	if !ok || len(kind) > maxKind || strings.TrimSpace(needs) == "" {
		return "", query
	}
	return kind, needs
}
