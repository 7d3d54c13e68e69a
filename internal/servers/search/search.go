// Package search ranks tools for a query.
//
// The ranking is lexical (BM25F): the stems of a query's words are looked up in the texts of the tools, and with less
// weight their synonyms and related words. docs/discovery.md has the measured gain of each feature.
package search

import "github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"

// Document describes one tool. Every field but Name may be empty.
type Document struct {
	Toolbox, ToolboxDescription string
	Server, ServerDescription   string // the latter may be the server's instructions
	Name, Title, Description    string
	Schema                      wire.Payload // of the tool's input
}

// Doubtful is the score below which a hit may be about something else.
const Doubtful = 0.2

// Hit is a tool that was found.
type Hit struct {
	Index int // of its document
	// Score is the share of the request that the tool answers, roughly from 0 to 1.
	Score float64
}

// Index finds tools. It is immutable, and safe for concurrent use.
type Index struct {
	documents int
	terms     map[string]int32 // the number of a term, by its stem
	names     [][]int32        // the terms of each document's name
	servers   servers
	postings  [][]posting     // by term, in the order of the documents
	rarity    []float64       // by term
	spellings [256][]spelling // by the first byte of the word
}

// posting is the entry of a document in the list of a term.
type posting struct {
	document int32
	strength float32 // how much the document is about the term
}

// spelling is a word as some document spells it.
type spelling struct {
	word string
	term int32
}
