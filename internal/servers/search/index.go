package search

import (
	"math"
	"strings"
)

// The constants of BM25F. The score of a word grows with its frequency up to a limit (saturation), and shrinks in
// texts that are longer than the average of their field (lengthShare). Rarity is dampened, since catalogs are small: a
// word that only one tool has may be there by chance.
const (
	saturation  = 3.0
	lengthShare = 0.5
	dampening   = 0.7
)

// occurrence is a word in a field of a document.
type occurrence struct {
	term  int32
	in    field
	plain bool // no compound
}

// outline is what the builder keeps of a document until all are read.
type outline struct {
	end     int               // of its occurrences; they begin where those of the one before end
	lengths [fieldCount]int32 // of its fields, in words
}

// builder collects the terms of all documents.
type builder struct {
	terms       map[string]int32 // by stem
	known       map[string]int32 // by word, so that each is stemmed once
	count       int              // of terms
	words       []word           // of the text at hand
	outlines    []outline        // of the documents that were read
	occurrences []occurrence     // of all documents, one after the other
	spellings   []spelling       // of the known words, in the order in which they were read
}

// New builds an index. It does not keep the documents.
func New(documents []Document) *Index {
	b := builder{terms: make(map[string]int32), known: make(map[string]int32)}
	for i := range documents {
		b.outlines = append(b.outlines, outline{})
		documents[i].eachText(b.read)
		b.outlines[i].end = len(b.occurrences)
	}
	usual := usualLengths(b.outlines)
	index := &Index{documents: len(documents), terms: b.terms, names: b.names(), postings: b.postings(usual)}
	index.servers = b.servers(serversOf(documents), usual)
	index.rarity = make([]float64, b.count)
	for term, list := range index.postings {
		index.rarity[term] = rarity(len(list), len(documents))
	}
	for _, s := range b.spellings {
		index.spellings[s.word[0]] = append(index.spellings[s.word[0]], s)
	}
	return index
}

// rarity is the weight of a term that some of all documents have (IDF).
func rarity(some, all int) float64 {
	return math.Pow(math.Log(1+(float64(all-some)+0.5)/(float64(some)+0.5)), dampening)
}

// read adds the words of a text to the last document.
func (b *builder) read(in field, content string) {
	lengths := &b.outlines[len(b.outlines)-1].lengths
	content = cut(content, maxFieldText)
	b.words = appendWords(b.words[:0], content)
	for _, w := range b.words {
		if w.text == "" {
			continue
		}
		b.occurrences = append(b.occurrences, occurrence{b.term(w.text), in, !w.compound})
		if !w.compound {
			lengths[in]++
		}
	}
}

func (b *builder) term(word string) int32 {
	if term, ok := b.known[word]; ok {
		return term
	}
	word = strings.Clone(word) // it may be a part of a long text, which would stay in memory
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

// names returns the terms of each document's name.
func (b *builder) names() [][]int32 {
	names := make([][]int32, len(b.outlines))
	start := 0
	for i, o := range b.outlines {
		for _, at := range b.occurrences[start:o.end] {
			if at.in == inName && at.plain {
				names[i] = append(names[i], at.term)
			}
		}
		start = o.end
	}
	return names
}

// postings computes the posting lists of all terms.
func (b *builder) postings(usual [fieldCount]float64) [][]posting {
	postings := make([][]posting, b.count)
	weights := make([]float64, b.count) // of the document at hand
	var seen []int32
	start := 0
	for i, o := range b.outlines {
		share := o.shares(&fieldWeights, usual)
		seen = seen[:0]
		for _, at := range b.occurrences[start:o.end] {
			if weights[at.term] == 0 {
				seen = append(seen, at.term)
			}
			weights[at.term] += share[at.in]
		}
		start = o.end
		for _, term := range seen {
			weight := weights[term]
			weights[term] = 0
			postings[term] = append(postings[term], posting{int32(i), saturate(weight)})
		}
	}
	return postings
}

// shares returns the weight of one word in each field of a document.
func (o *outline) shares(weights *[fieldCount]float64, usual [fieldCount]float64) (shares [fieldCount]float64) {
	for f, length := range o.lengths {
		shares[f] = weights[f] / (1 - lengthShare + lengthShare*float64(length)/usual[f])
	}
	return shares
}

func saturate(weight float64) float32 { return float32(weight / (weight + saturation)) }

// usualLengths returns the mean lengths of the fields over the documents that have them.
func usualLengths(outlines []outline) (usual [fieldCount]float64) {
	var count [fieldCount]float64
	for _, o := range outlines {
		for f, length := range o.lengths {
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

// cut returns at most size bytes of a text. A character that is cut in two is not a letter.
func cut(text string, size int) string {
	return text[:min(len(text), size)]
}
