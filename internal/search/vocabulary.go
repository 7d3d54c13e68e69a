package search

import (
	"embed"
	"slices"
	"strings"
)

// The lists are our own, written down from general knowledge of the language.
//
//go:embed wordlists/*.txt
var wordlists embed.FS

// How much a word of a query counts, where it is not 1, and words that stand for it.
const (
	requestWeight = 0.1
	commonWeight  = 0.6
	quotedWeight  = 0.5 // in quotes stand arguments more often than what a tool does
	partWeight    = 0.5 // a part of a compound, beside the compound
	joinedWeight  = 0.5 // two words as a compound, beside the words
	splitWeight   = 0.5 // the halves of a compound that no tool has
	synonymWeight = 0.5
	subjectWeight = 0.4
	strangerTrust = 1.5 // times as much count both if no tool has the word itself
	typoWeight    = 0.7
)

// All of them are by stem.
var (
	requestWords = wordSet("request")
	commonWords  = wordSet("common")
	synonyms     = wordGroups("synonyms")
	subjects     = wordGroups("subjects")
)

// lines returns the words of each line of a list.
func lines(list string) (lines [][]string) {
	content, err := wordlists.ReadFile("wordlists/" + list + ".txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var stems []string
		for _, word := range strings.Fields(line) {
			stems = append(stems, stem(word))
		}
		lines = append(lines, stems)
	}
	return lines
}

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for _, stems := range lines(list) {
		for _, stem := range stems {
			set[stem] = true
		}
	}
	return set
}

// wordGroups maps a word to the others of its lines.
func wordGroups(list string) map[string][]string {
	groups := make(map[string][]string)
	for _, stems := range lines(list) {
		for _, stem := range stems {
			for _, other := range stems {
				if other != stem && !slices.Contains(groups[stem], other) {
					groups[stem] = append(groups[stem], other)
				}
			}
		}
	}
	return groups
}
