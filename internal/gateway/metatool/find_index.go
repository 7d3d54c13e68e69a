package metatool

import (
	"slices"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/catalog"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
)

// Limits of the search indexes of a surface.
const (
	// maxIndexes is the number of indexes that are kept: clients may have server instances, and so tools, of their
	// own.
	maxIndexes = 4
	// maxIndexed is the number of tools in an index. Indexing ten thousand takes some tenths of a second.
	maxIndexed = 50_000
)

// finder searches tools. It builds an index on first use, and again when the tools have changed.
type finder struct {
	mu      sync.Mutex
	indexes []*toolIndex // the one that was used last comes last
}

// toolIndex is a search index of a snapshot of tools.
type toolIndex struct {
	boxes []*fleet.Toolbox
	of    []*catalog.Snapshot // in the order of their servers; nil for one never seen
	tools []foundTool
	left  int // tools that it has no room for
	index *search.Index
}

type foundTool struct {
	box    *fleet.Toolbox
	server *fleet.Server
	tool   catalog.Tool
}

// findResult is the result of a search.
type findResult struct {
	hits     []foundTool
	more     bool // there are others that fit
	doubtful bool // even the best may be about something else
	searched int
	unseen   []*fleet.Server // those searched had nothing to search, in order
	left     int
}

// search finds known tools. It starts no servers.
func (f *finder) search(boxes []*fleet.Toolbox, profile *fleet.ClientProfile, q findQuery) findResult {
	var found findResult
	var snapshots []*catalog.Snapshot
	for _, box := range boxes {
		for _, server := range box.Servers {
			offered := server.OfferedFor(profile)
			snapshots = append(snapshots, offered)
			if offered == nil && q.covers(box) {
				found.unseen = append(found.unseen, server)
			}
		}
	}
	index := f.indexOf(boxes, snapshots)
	for i := range index.tools {
		if q.covers(index.tools[i].box) {
			found.searched++
		}
	}
	hits := index.index.Find(q.query, func(i int) bool { return q.covers(index.tools[i].box) }, q.limit+1)
	found.more, found.left = len(hits) > q.limit, index.left
	found.doubtful = len(hits) > 0 && hits[0].Score < search.Doubtful
	for _, hit := range hits[:min(len(hits), q.limit)] {
		found.hits = append(found.hits, index.tools[hit.Index])
	}
	return found
}

func (q findQuery) covers(box *fleet.Toolbox) bool { return q.toolbox == "" || q.toolbox == box.Name }

// indexOf returns the index of these snapshots. Concurrent callers wait while it is built.
func (f *finder) indexOf(boxes []*fleet.Toolbox, snapshots []*catalog.Snapshot) *toolIndex {
	f.mu.Lock()
	defer f.mu.Unlock()
	at := slices.IndexFunc(f.indexes, func(x *toolIndex) bool { return slices.Equal(x.of, snapshots) })
	var index *toolIndex
	switch {
	case at >= 0:
		index = f.indexes[at]
		f.indexes = slices.Delete(f.indexes, at, at+1)
	default:
		index = newToolIndex(boxes, snapshots)
		if len(f.indexes) == maxIndexes {
			f.indexes = slices.Delete(f.indexes, 0, 1)
		}
	}
	f.indexes = append(f.indexes, index)
	return index
}

func newToolIndex(boxes []*fleet.Toolbox, snapshots []*catalog.Snapshot) *toolIndex {
	x := &toolIndex{boxes: boxes, of: snapshots}
	var documents []search.Document
	i := 0
	for _, box := range boxes {
		for _, server := range box.Servers {
			offered := snapshots[i]
			i++
			if offered == nil {
				continue
			}
			for _, tool := range offered.Tools {
				if len(documents) == maxIndexed {
					x.left++
					continue
				}
				x.tools = append(x.tools, foundTool{box, server, tool})
				documents = append(documents, document(box, server, offered.Instructions, tool))
			}
		}
	}
	x.index = search.New(documents)
	return x
}

func document(box *fleet.Toolbox, server *fleet.Server, instructions string, tool catalog.Tool) search.Document {
	d := search.Document{
		Toolbox: box.Name, ToolboxDescription: box.Description, Server: server.Name(), ServerDescription: instructions, Name: tool.Name,
		Schema: tool.Definition.Member("inputSchema"),
	}
	d.Description, _ = tool.Definition.Member("description").Text()
	if d.Title, _ = tool.Definition.Member("title").Text(); d.Title == "" {
		d.Title, _ = tool.Definition.Member("annotations").Member("title").Text()
	}
	return d
}
