package search

import "github.com/kljensen/snowball/english"

// stem removes the endings of an English word that do not change its subject: "retrieves", "retrieving" and "retrieval"
// become "retriev". Words with characters other than a to z stay as they are.
func stem(word string) string {
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	return english.Stem(word, false)
}
