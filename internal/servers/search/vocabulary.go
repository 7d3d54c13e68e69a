package search

import (
	"embed"
	"strings"
	"sync"
)

// The lists are our own, written down from general knowledge of the language.
//
//go:embed wordlists/*.txt
var wordlists embed.FS

// Weights of words in a query other than 1, and of the terms that match them.
const (
	requestWeight     = 0.1
	commonWeight      = 0.6
	quotedWeight      = 0.5 // quotes hold arguments more often than what a tool does
	partWeight        = 0.5 // a part of a compound, beside the compound
	translationWeight = 0.8
	synonymWeight     = 0.5
	subjectWeight     = 0.4 // a word of the same subject, or for what a thing is
	strangerTrust     = 1.5 // factor of the last three if no tool has the word itself
	typoWeight        = 0.7
)

// vocabulary holds the word lists, as stems.
type vocabulary struct {
	request, common map[string]bool
	related         map[string][]relative // those that count most first
}

// relative is a related word.
type relative struct {
	stem   string
	weight float64
}

// knownWords reads the lists on first use, since most runs of the program do not search.
var knownWords = sync.OnceValue(func() *vocabulary {
	v := &vocabulary{
		request: make(map[string]bool),
		common:  make(map[string]bool),
		related: make(map[string][]relative),
	}
	for _, sides := range lines("request") {
		addAll(v.request, sides[0])
	}
	for _, sides := range lines("common") {
		addAll(v.common, sides[0])
	}
	for _, sides := range lines("chinese") {
		v.relate(sides[0], sides[1], translationWeight)
		v.relate(sides[1], sides[0], translationWeight)
	}
	for _, sides := range lines("synonyms") {
		v.relate(sides[0], sides[0], synonymWeight)
	}
	for _, sides := range lines("subjects") {
		v.relate(sides[0], sides[0], subjectWeight)
	}
	for _, sides := range lines("kinds") {
		v.relate(sides[1], sides[0], subjectWeight)
	}
	return v
})

// relate adds others as relatives of words. The first relation of a pair wins.
func (v *vocabulary) relate(words, others []string, weight float64) {
	for _, word := range words {
		for _, other := range others {
			if other != word && !v.isRelated(word, other) {
				v.related[word] = append(v.related[word], relative{other, weight})
			}
		}
	}
}

func (v *vocabulary) isRelated(word, other string) bool {
	for _, r := range v.related[word] {
		if r.stem == other {
			return true
		}
	}
	return false
}

func addAll(set map[string]bool, stems []string) {
	for _, stem := range stems {
		set[stem] = true
	}
}

// lines returns the stems of each line of a list, before and after its colon.
func lines(list string) (lines [][2][]string) {
	content, err := wordlists.ReadFile("wordlists/" + list + ".txt")
	if err != nil {
		panic(err) // it is part of the program
	}
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		before, behind, _ := strings.Cut(line, ":")
		lines = append(lines, [2][]string{stems(before), stems(behind)})
	}
	return lines
}

func stems(text string) (stems []string) {
	for _, word := range strings.Fields(text) {
		stems = append(stems, stem(word))
	}
	return stems
}
