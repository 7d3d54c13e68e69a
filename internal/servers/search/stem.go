package search

import "strings"

// stem takes the endings off an English word that do not change what it is about, after
// Porter's algorithm of 1980: "retrieves", "retrieving" and "retrieval" become "retriev".
// Words with anything but a to z are left as they are.
func stem(word string) string {
	if len(word) <= 2 {
		return word
	}
	for i := range len(word) {
		if word[i] < 'a' || word[i] > 'z' {
			return word
		}
	}
	if stem, ok := keptApart[word]; ok {
		return stem
	}
	w := stripPlural(word)
	w = stripPast(w)
	if rest, ok := strings.CutSuffix(w, "y"); ok && hasVowel(rest) {
		w = rest + "i"
	}
	w = replaceEnding(w, 0, doubleEndings)
	w = replaceEnding(w, 0, singleEndings)
	w = dropEnding(w)
	if rest, ok := strings.CutSuffix(w, "e"); ok {
		if m := measureOf(rest); m > 1 || m == 1 && !endsShort(rest) {
			w = rest
		}
	}
	if strings.HasSuffix(w, "ll") && measureOf(w) > 1 {
		w = w[:len(w)-1]
	}
	return w
}

// keptApart holds the stems of words that would get that of others, which mean something else:
// news are not new, and a terminal does not terminate.
var keptApart = map[string]string{
	"news": "news", "past": "past", "ios": "ios", "important": "important", "importance": "important",
	"paste": "paste", "pasted": "paste", "pasting": "paste", "pastes": "paste",
	"terminal": "terminal", "terminals": "terminal", "animal": "animal", "animals": "animal",
	"business": "business", "businesses": "business", "general": "general", "generally": "general", "generic": "generic",
	"university": "university", "universities": "university", "universal": "universal",
	"community": "community", "communities": "community",
	"conversation": "conversation", "conversations": "conversation", "conversational": "conversation",
	"executive": "executive", "executives": "executive", "international": "international", "internal": "internal",
	"position": "position", "positions": "position",
	"experiment": "experiment", "experiments": "experiment", "experimental": "experiment",
	"authority": "authority", "authorities": "authority", "organic": "organic", "several": "several",
}

func stripPlural(w string) string {
	switch {
	case strings.HasSuffix(w, "sses"), strings.HasSuffix(w, "ies"):
		return w[:len(w)-2]
	case strings.HasSuffix(w, "ss"):
		return w
	}
	return strings.TrimSuffix(w, "s")
}

func stripPast(w string) string {
	if rest, ok := strings.CutSuffix(w, "eed"); ok {
		if measureOf(rest) > 0 {
			return rest + "ee"
		}
		return w
	}
	for _, ending := range []string{"ed", "ing"} {
		rest, ok := strings.CutSuffix(w, ending)
		if !ok || !hasVowel(rest) {
			continue
		}
		switch {
		case strings.HasSuffix(rest, "at"), strings.HasSuffix(rest, "bl"), strings.HasSuffix(rest, "iz"):
			return rest + "e"
		case endsDouble(rest) && !strings.ContainsAny(rest[len(rest)-1:], "lsz"):
			return rest[:len(rest)-1]
		case measureOf(rest) == 1 && endsShort(rest):
			return rest + "e"
		}
		return rest
	}
	return w
}

// Pairs of an ending and what stands for it; the first that fits counts.
var (
	doubleEndings = []string{
		"ational", "ate", "tional", "tion", "enci", "ence", "anci", "ance", "izer", "ize", "abli", "able",
		"alli", "al", "entli", "ent", "eli", "e", "ousli", "ous", "ization", "ize", "ation", "ate", "ator", "ate",
		"alism", "al", "iveness", "ive", "fulness", "ful", "ousness", "ous", "aliti", "al", "iviti", "ive",
		"biliti", "ble",
	}
	singleEndings = []string{
		"icate", "ic", "ative", "", "alize", "al", "iciti", "ic", "ical", "ic", "ful", "", "ness", "",
	}
	lastEndings = []string{
		"al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism",
		"ate", "iti", "ous", "ive", "ize",
	}
)

func replaceEnding(w string, above int, endings []string) string {
	for i := 0; i < len(endings); i += 2 {
		if rest, ok := strings.CutSuffix(w, endings[i]); ok {
			if measureOf(rest) > above {
				return rest + endings[i+1]
			}
			return w
		}
	}
	return w
}

func dropEnding(w string) string {
	for _, ending := range lastEndings {
		rest, ok := strings.CutSuffix(w, ending)
		if !ok {
			continue
		}
		if ending == "ion" && !strings.HasSuffix(rest, "s") && !strings.HasSuffix(rest, "t") {
			return w
		}
		if measureOf(rest) > 1 {
			return rest
		}
		return w
	}
	return w
}

// isConsonant reports whether a letter sounds as one: y does at the beginning and after a
// vowel.
func isConsonant(w string, i int) bool {
	switch w[i] {
	case 'a', 'e', 'i', 'o', 'u':
		return false
	case 'y':
		return i == 0 || !isConsonant(w, i-1)
	}
	return true
}

// measureOf counts the changes from a vowel to a consonant, roughly the syllables.
func measureOf(w string) (count int) {
	for i := 1; i < len(w); i++ {
		if isConsonant(w, i) && !isConsonant(w, i-1) {
			count++
		}
	}
	return count
}

func hasVowel(w string) bool {
	for i := range len(w) {
		if !isConsonant(w, i) {
			return true
		}
	}
	return false
}

func endsDouble(w string) bool {
	n := len(w)
	return n >= 2 && w[n-1] == w[n-2] && isConsonant(w, n-1)
}

// endsShort reports whether a word ends as "hop" does: consonant, vowel, consonant.
func endsShort(w string) bool {
	n := len(w)
	return n >= 3 && isConsonant(w, n-1) && !isConsonant(w, n-2) && isConsonant(w, n-3) &&
		!strings.ContainsAny(w[n-1:], "wxy")
}
