// Package search ranks tools for a query.
//
// The ranking is lexical: the words of a query are looked up in the texts of the tools,
// with their endings taken off, and with less weight the words that mean the same. What
// each part gains is measured in docs/discovery.md.
package search

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"

// Document is what is known of one tool. Every field but Name may be empty.
type Document struct {
	Toolbox, ToolboxDescription string
	Server, ServerDescription   string // the latter may be the server's instructions
	Name, Title, Description    string
	Schema                      wire.Payload // of the tool's input
}

// Doubtful is the score below which a hit may well be about something else.
const Doubtful = 0.2

// Hit is one tool that was found.
type Hit struct {
	Index int // of its document
	// Score says how much of the request the tool answers, roughly from 0 to 1.
	Score float64
}

// Index finds tools. It never changes and may be used by several goroutines at once.
type Index struct {
	documents int
	terms     map[string]int32 // the number of a term, by its stem
	names     [][]int32        // the terms of each document's name
	servers   servers
	postings  [][]posting     // by term, in the order of the documents
	rarity    []float64       // by term
	spellings [256][]spelling // by the first byte of the word
}

// posting says that a document has a term.
type posting struct {
	document int32
	strength float32 // how much the document is about the term
}

// spelling is a word as it is written in some document.
type spelling struct {
	word string
	term int32
}
