package metatool

import (
	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
)

// maxSearched bounds the tools that one search of a person finds, on all pages together.
const maxSearched = 1000

// Search is a search of a person who looks at a workbench.
type Search struct {
	Query           string
	Toolbox, Server string // "": all
	Caller          string // whose tools; see catalog.Snapshot.For
	Offset, Limit   int    // of the page
}

// SearchResult is one page of what a search found.
type SearchResult struct {
	Found    []Found
	Total    int  // on all pages
	Doubtful bool // even the best may be about something else
}

// Found is a tool with why it was found.
type Found struct {
	Server  *fleet.Server
	Tool    catalog.Tool
	Score   float64 // see search.Hit
	Reasons []search.Reason
}

// Search finds known tools and ranks them as find_tools does, with the same index. It opens no toolbox and starts no
// server. Reasons are made for the page alone.
func (s *Surface) Search(q Search) SearchResult {
	boxes := s.visible.Toolboxes()
	var snapshots []*catalog.Snapshot
	for _, box := range boxes {
		for _, server := range box.Servers {
			snapshots = append(snapshots, server.Offered().For(q.Caller))
		}
	}
	index := s.finder.indexOf(boxes, snapshots)
	hits := index.index.Find(q.Query, func(i int) bool {
		tool := &index.tools[i]
		return (q.Toolbox == "" || q.Toolbox == tool.box.Name) && (q.Server == "" || q.Server == tool.server.Name())
	}, maxSearched)
	result := SearchResult{Total: len(hits), Doubtful: len(hits) > 0 && hits[0].Score < search.Doubtful}
	hits = hits[min(q.Offset, len(hits)):]
	hits = hits[:min(q.Limit, len(hits))]
	shown := make([]int, len(hits))
	for i, hit := range hits {
		shown[i] = hit.Index
	}
	reasons := index.index.Explain(q.Query, shown, func(i int) search.Document { return index.document(i) })
	for i, hit := range hits {
		tool := &index.tools[hit.Index]
		result.Found = append(result.Found, Found{Server: tool.server, Tool: tool.tool, Score: hit.Score, Reasons: reasons[i]})
	}
	return result
}

// document returns what the index was made of for one tool.
func (x *toolIndex) document(i int) search.Document {
	tool, at := &x.tools[i], 0
	for _, box := range x.boxes {
		for _, server := range box.Servers {
			if server == tool.server {
				return document(tool.box, server, x.of[at].Instructions, tool.tool)
			}
			at++
		}
	}
	return search.Document{} // unreachable: the tools are those of the servers
}
