package search

import (
	"strings"
	"unicode/utf8"
)

// Limits of the work for one query.
const (
	maxQuery      = 4 << 10 // bytes; the rest is not looked at
	maxQueryWords = 200
	maxClauses    = 32  // what follows belongs to the last one
	maxTypos      = 8   // words that are compared with all terms of their letter
	maxQuoted     = 100 // bytes in quotes; what is longer is no argument, or the quote has no end
)

// queryWord is a word that is looked for.
type queryWord struct {
	text   string
	stem   string
	weight float64
	asks   bool // only asks for something
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
	quoted := 0  // the place behind what stands in quotes, or is a path
	for _, w := range appendWords(nil, query) {
		if count++; count > maxQueryWords {
			break
		}
		if !w.compound {
			end = min(end, w.at) // pairs of characters overlap
			gap := query[end:w.at]
			quoted = max(quotedUntil(query, max(end, quoted), w.at, quoted), pathUntil(query, end, w.at))
			end = w.end
			if !w.part && w.at >= quoted && isBreak(gap, w.text) {
				before = ""
				if meaningful && len(clauses)+1 < maxClauses {
					clauses = append(clauses, clause)
					clause, meaningful = nil, false
				}
			}
		}
		if w.text == "" {
			before = ""
			continue
		}
		next := weigh(w, w.at < quoted)
		clause = append(clause, next)
		switch {
		case !next.expand:
			before = ""
			continue
		case w.part:
			continue
		case before != "":
			if _, ok := x.terms[stem(before+w.text)]; ok {
				clause = append(clause, queryWord{text: before + w.text, stem: stem(before + w.text), weight: next.weight * joinedWeight})
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
	case knownWords().request[next.stem]:
		next.weight, next.asks, next.expand = requestWeight, true, false
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

// isBreak reports whether a clause ends in the gap before a word. A mark without a space
// belongs to a name, a number or an address.
func isBreak(gap, next string) bool {
	return strings.ContainsAny(gap, " \n") && strings.ContainsAny(gap, ".?!;,:\n") ||
		strings.Contains(gap, " + ") || strings.Contains(gap, " / ") ||
		next == "and" || next == "then" || next == "or"
}

// closings are the quotes that end what a quote begins.
var closings = map[rune]string{'"': `"`, '`': "`", '\'': "'", '“': "”", '„': "“", '«': "»"}

// quotedUntil returns the place behind the quotes that begin between two places of a query, or
// what was given if none does.
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

// pathUntil returns the place behind a path or an address that begins with a word, or with marks
// in the gap before it. It is 0 if none does.
func pathUntil(query string, end, at int) int {
	begin := end + strings.LastIndexAny(query[end:at], pathEnds) + 1
	if begin == end && end > 0 {
		return 0 // a mark within a word: and/or
	}
	length := strings.IndexAny(query[at:], pathEnds)
	if length < 0 {
		length = len(query) - at
	}
	path := query[begin : at+length]
	for _, mark := range []string{"/", "~/", "./", "../", `\\`} {
		if strings.HasPrefix(path, mark) {
			return at + length
		}
	}
	if begin == at && (strings.Contains(path, "://") || strings.HasPrefix(path[1:], `:\`)) {
		return at + length
	}
	return 0
}

// pathEnds are what separates a path from the text around it.
const pathEnds = " \t\n\"'`()<>,"

// maxKind is the most bytes that say what kind of server is wanted.
const maxKind = 120

// splitKind separates what kind of server is wanted from what is to be done, as agents write it: "maps or
// navigation; find a bicycle route". A sentence with a semicolon in it has no kind.
func splitKind(query string) (kind, needs string) {
	kind, needs, ok := strings.Cut(query, "; ")
	if !ok || len(kind) > maxKind || strings.TrimSpace(needs) == "" || isSentence(kind) {
		return "", query
	}
	return kind, needs
}

// isSentence reports whether a text says more than what something is.
func isSentence(text string) bool {
	if strings.ContainsAny(text, "\n\"`?") || strings.Contains(text, ". ") || strings.Contains(text, ": ") {
		return true
	}
	for _, w := range appendWords(nil, text) {
		if inSentences[w.text] {
			return true
		}
	}
	return false
}

// inSentences are words that sentences have, but no name of a kind. The US, the WHO and IT may be in one.
var inSentences = wordSet(`i you he she we they me him them my your his her our their this that these those
	is are was were be been does did have has had could would shall should might must
	want wants need needs please let if when how what why where which because`)

func wordSet(text string) map[string]bool {
	set := make(map[string]bool)
	for _, word := range strings.Fields(text) {
		set[word] = true
	}
	return set
}
