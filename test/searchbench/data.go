package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
)

// maxLine bounds one line of a file.
const maxLine = 16 << 20

type dataset struct {
	documents map[string][]search.Document // by catalog
	ids       map[string][]string          // of the documents: server/name
	queries   []query
}

type query struct {
	ID      string     `json:"id"`
	Set     string     `json:"set"`
	Catalog string     `json:"catalog"`
	Query   string     `json:"query"`
	Gold    [][]string `json:"gold"`
	Group   string     `json:"group"` // of queries about one task; may be empty
}

// isIn reports whether a query belongs to a part. Queries about one task stay together,
// since they have the same answers.
func (q query) isIn(part string) bool {
	if part == "all" {
		return true
	}
	key := q.Group
	if key == "" {
		key = q.ID
	}
	hash := fnv.New32a()
	hash.Write([]byte(key))
	return (hash.Sum32()%3 == 0) == (part == "held")
}

func (d *dataset) tools() (count int) {
	for _, documents := range d.documents {
		count += len(documents)
	}
	return count
}

func load(folder string) (*dataset, error) {
	data := &dataset{documents: make(map[string][]search.Document), ids: make(map[string][]string)}
	type server struct{ Catalog, Server, Description string }
	about := make(map[[2]string]string)
	err := eachLine(filepath.Join(folder, "servers.jsonl"), func(s server) {
		about[[2]string{s.Catalog, s.Server}] = s.Description
	})
	if err != nil {
		return nil, err
	}
	type tool struct {
		Catalog, Server, Name, Title, Description string
		InputSchema                               json.RawMessage
	}
	err = eachLine(filepath.Join(folder, "tools.jsonl"), func(t tool) {
		data.documents[t.Catalog] = append(data.documents[t.Catalog], search.Document{
			Server: t.Server, ServerDescription: about[[2]string{t.Catalog, t.Server}],
			Name: t.Name, Title: t.Title, Description: t.Description, Schema: wire.Raw(t.InputSchema),
		})
		data.ids[t.Catalog] = append(data.ids[t.Catalog], t.Server+"/"+t.Name)
	})
	if err != nil {
		return nil, err
	}
	err = eachLine(filepath.Join(folder, "queries.jsonl"), func(q query) { data.queries = append(data.queries, q) })
	if err != nil {
		return nil, err
	}
	for _, q := range data.queries {
		if data.documents[q.Catalog] == nil {
			return nil, fmt.Errorf("query '%s' is for catalog '%s', of which tools.jsonl has no tool", q.ID, q.Catalog)
		}
	}
	return data, nil
}

// eachLine decodes each line of a file.
func eachLine[T any](path string, visit func(T)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	for number := 1; lines.Scan(); number++ {
		var value T
		if err := json.Unmarshal(lines.Bytes(), &value); err != nil {
			return fmt.Errorf("%s:%d: %w", path, number, err)
		}
		visit(value)
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
