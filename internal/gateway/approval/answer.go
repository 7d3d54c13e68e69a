package approval

import "slices"

// Answer is what a person says about a call. The zero value is no.
type Answer uint8

// The answers.
const (
	No      Answer = iota
	Once           // this call
	Same           // all calls of the session with the same tool and arguments
	Session        // all calls of the session with the same tool
)

var answers = []string{"no", "once", "same", "session"}

func (a Answer) String() string { return answers[a] }

// ParseAnswer reads the word for an answer.
func ParseAnswer(word string) (answer Answer, ok bool) {
	at := slices.Index(answers, word)
	return Answer(max(at, 0)), at >= 0
}
