// Command searchbench measures how well the search finds tools: it indexes the catalogs of
// a folder, asks the folder's queries, and compares the answers with those that are right.
//
// The folder holds tools.jsonl, servers.jsonl and queries.jsonl, one JSON object a line. A
// query searches the tools of its own catalog. Its gold is a list of slots, each a list of
// tools that serve equally well; a query without gold has no right answer, and does not
// count for the table.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
)

// depth is how many hits are looked at; later ones count as not found.
const depth = 50

func main() {
	folder := flag.String("data", "", "the folder with tools.jsonl, servers.jsonl and queries.jsonl")
	part := flag.String("part", "all", "the queries to ask: all, or by a hash of their ids tune (two thirds) or held (the others)")
	misses := flag.Bool("misses", false, "also print the queries of which no tool is among the first five")
	flag.Parse()
	if err := run(os.Stdout, *folder, *part, *misses); err != nil {
		fmt.Fprintln(os.Stderr, "searchbench:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, folder, part string, misses bool) error {
	if folder == "" {
		return errors.New("no folder to measure: say make bench-search DATA=folder")
	}
	if part != "all" && part != "tune" && part != "held" {
		return fmt.Errorf("unknown part '%s': it is all, tune or held", part)
	}
	data, err := load(folder)
	if err != nil {
		return err
	}
	begin := time.Now()
	indexes := make(map[string]*search.Index)
	for name, documents := range data.documents {
		indexes[name] = search.New(documents)
	}
	indexing := time.Since(begin)

	var results table
	var nothing []float64 // the best scores where no tool fits
	begin = time.Now()
	asked := 0
	for _, query := range data.queries {
		if !query.isIn(part) {
			continue
		}
		asked++
		hits := indexes[query.Catalog].Find(query.Query, nil, depth)
		ids := make([]string, len(hits))
		for i, hit := range hits {
			ids[i] = data.ids[query.Catalog][hit.Index]
		}
		if len(query.Gold) == 0 {
			nothing = append(nothing, bestScore(hits))
			continue
		}
		measured := measure(ids, query.Gold)
		results.add(query.Set, measured, bestScore(hits))
		if misses && measured.recall5 == 0 {
			fmt.Fprintf(out, "%s: %s\n  wanted %v\n  found  %q\n", query.ID, query.Query, query.Gold, ids[:min(5, len(ids))])
		}
	}
	answering := time.Since(begin)
	results.print(out)
	results.printNothing(out, nothing)
	fmt.Fprintf(out, "\n%d tools indexed in %v, %d queries answered in %v each\n", data.tools(),
		indexing.Round(time.Millisecond), asked, (answering / time.Duration(max(asked, 1))).Round(time.Microsecond))
	return nil
}

func bestScore(hits []search.Hit) float64 {
	if len(hits) == 0 {
		return 0
	}
	return hits[0].Score
}
