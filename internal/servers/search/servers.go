package search

// kindFieldWeights are the weights of a word in each field for the kind of server. The tools count too, since many
// servers do not describe themselves.
var kindFieldWeights = [fieldCount]float64{
	inName: 1.5, inTitle: 1, inDescription: 1,
	inServer: 4, inServerText: 2, inToolbox: 2, inToolboxText: 1,
}

// servers indexes the servers of the documents, each as a whole.
type servers struct {
	count    int
	of       []int32     // the number of the server of each document
	postings [][]posting // by term, in the order of the servers, which stand where documents do elsewhere
}

// serversOf numbers the servers in the order of the documents.
func serversOf(documents []Document) (s servers) {
	type key struct{ toolbox, server string }
	numbers := make(map[key]int32)
	for i := range documents {
		k := key{documents[i].Toolbox, documents[i].Server}
		number, ok := numbers[k]
		if !ok {
			number = int32(len(numbers))
			numbers[k] = number
		}
		s.of = append(s.of, number)
	}
	s.count = len(numbers)
	return s
}

// servers computes the posting lists of servers: a server's weight for a term is the mean of its tools.
func (b *builder) servers(s servers, usual [fieldCount]float64) servers {
	tools := make([][]int, s.count)
	for document, server := range s.of {
		tools[server] = append(tools[server], document)
	}
	s.postings = make([][]posting, b.count)
	weights := make([]float64, b.count) // of the server at hand
	var seen []int32
	for server, documents := range tools {
		seen = seen[:0]
		for _, document := range documents {
			shares := b.outlines[document].shares(&kindFieldWeights, usual)
			for _, at := range b.occurrencesOf(document) {
				if shares[at.in] == 0 {
					continue
				}
				if weights[at.term] == 0 {
					seen = append(seen, at.term)
				}
				weights[at.term] += shares[at.in]
			}
		}
		for _, term := range seen {
			mean := weights[term] / float64(len(documents))
			weights[term] = 0
			s.postings[term] = append(s.postings[term], posting{int32(server), saturate(mean)})
		}
	}
	return s
}

func (b *builder) occurrencesOf(document int) []occurrence {
	start := 0
	if document > 0 {
		start = b.outlines[document-1].end
	}
	return b.occurrences[start:b.outlines[document].end]
}

// addKind adds to the scores of documents how well their servers match the words of a kind. These words are looked up
// apart from the clauses: a word that is repeated there counts again.
func (f *finder) addKind(words []queryWord, scores []float64, named []float32) {
	kind := f.forKind()
	lookups := kind.plan([][]queryWord{words})[0]
	kind.markNamed(named)
	kind.answerOnce()
	sums := make([]float64, f.servers.count)
	found := make([]float64, f.servers.count) // for the word at hand
	for _, l := range lookups {
		clear(found)
		for _, c := range kind.words[l.word] {
			for _, p := range f.servers.postings[c.term] {
				found[p.document] = max(found[p.document], c.weight*float64(p.strength))
			}
		}
		for server, score := range found {
			sums[server] += score
		}
	}
	f.servers.share(sums, scores)
}

// forKind returns a finder for the words of a kind.
func (f *finder) forKind() finder { return finder{Index: f.Index, room: f.room, typos: f.typos} }

// unfit is the share of the best tool's score below which other tools of a server gain nothing from the kind.
// Otherwise the right server would fill the answer with all its tools.
const unfit = 0.5

// share adds the scores of servers to those of their documents, in full only to the best document.
func (s *servers) share(sums, scores []float64) {
	best := make([]float64, s.count)
	for document, server := range s.of {
		best[server] = max(best[server], scores[document])
	}
	for document, server := range s.of {
		part := 1.0
		if best[server] > 0 {
			part = max(0, (scores[document]/best[server]-unfit)/(1-unfit))
		}
		scores[document] += part * sums[server]
	}
}
