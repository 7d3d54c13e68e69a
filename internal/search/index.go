package search

import "math"

// The constants of BM25F. A word that comes up often counts more, but not without end
// (saturation), and less in a text that is longer than others of its field (lengthShare).
// Rarity is dampened, since a catalog is small: a word that only one tool has may be there
// by chance.
const (
	saturation  = 3.0
	lengthShare = 0.5
	dampening   = 0.7
)

// occurrence is a word in a field of a document.
type occurrence struct {
	term int32
	in   field
}

// text is what the index has to know of a document until all are read.
type text struct {
	occurrences []occurrence
	lengths     [fieldCount]int32
}

// builder collects the terms of all documents.
type builder struct {
	terms     map[string]int32 // by stem
	known     map[string]int32 // by word, so that each is stemmed once
	count     int              // of terms
	words     []word           // of the text at hand
	spellings []spelling       // of the known words, in the order in which they were read
}

// New makes an index of documents. It keeps nothing of them.
func New(documents []Document) *Index {
	b := builder{terms: make(map[string]int32), known: make(map[string]int32)}
	texts := make([]text, len(documents))
	for i := range documents {
		documents[i].eachText(func(in field, content string) { b.read(&texts[i], in, content) })
	}
	index := &Index{documents: len(documents), terms: b.terms, postings: postingsOf(texts, b.count)}
	index.rarity = make([]float64, b.count)
	for term, list := range index.postings {
		index.rarity[term] = rarity(len(list), len(documents))
	}
	for _, s := range b.spellings {
		index.spellings[s.word[0]] = append(index.spellings[s.word[0]], s)
	}
	return index
}

// rarity is how much it tells that a document has a term, if some of all have it.
func rarity(some, all int) float64 {
	return math.Pow(math.Log(1+(float64(all-some)+0.5)/(float64(some)+0.5)), dampening)
}

// read adds the words of a text.
func (b *builder) read(t *text, in field, content string) {
	content = cut(content, maxFieldText)
	before := ""
	b.words = appendWords(b.words[:0], content)
	for _, w := range b.words {
		if w.text == "" {
			before = ""
			continue
		}
		t.occurrences = append(t.occurrences, occurrence{b.term(w.text), in})
		if w.compound {
			continue
		}
		t.lengths[in]++
		if in.isName() && before != "" && len(before)+len(w.text) <= maxWord {
			t.occurrences = append(t.occurrences, occurrence{b.term(before + w.text), in})
		}
		before = w.text
	}
}

func (b *builder) term(word string) int32 {
	if term, ok := b.known[word]; ok {
		return term
	}
	stem := stem(word)
	term, ok := b.terms[stem]
	if !ok {
		term = int32(b.count)
		b.count++
		b.terms[stem] = term
	}
	b.known[word] = term
	b.spellings = append(b.spellings, spelling{word, term})
	return term
}

// postingsOf works out how much each document is about each of its terms.
func postingsOf(texts []text, terms int) [][]posting {
	usual := usualLengths(texts)
	postings := make([][]posting, terms)
	weights := make([]float64, terms) // of the document at hand
	var seen []int32
	for i := range texts {
		var share [fieldCount]float64
		for f, length := range texts[i].lengths {
			share[f] = fieldWeights[f] / (1 - lengthShare + lengthShare*float64(length)/usual[f])
		}
		seen = seen[:0]
		for _, o := range texts[i].occurrences {
			if weights[o.term] == 0 {
				seen = append(seen, o.term)
			}
			weights[o.term] += share[o.in]
		}
		for _, term := range seen {
			weight := weights[term]
			weights[term] = 0
			postings[term] = append(postings[term], posting{int32(i), float32(weight / (weight + saturation))})
		}
	}
	return postings
}

// usualLengths are the mean lengths of the fields, of the documents that have them.
func usualLengths(texts []text) (usual [fieldCount]float64) {
	var count [fieldCount]float64
	for i := range texts {
		for f, length := range texts[i].lengths {
			if length > 0 {
				usual[f] += float64(length)
				count[f]++
			}
		}
	}
	for f := range usual {
		usual[f] = max(usual[f], 1) / max(count[f], 1)
	}
	return usual
}

// cut shortens a text to at most size bytes. What is left of a character at the end counts
// as no letter.
func cut(text string, size int) string {
	return text[:min(len(text), size)]
}
