package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"text/tabwriter"

	"github.com/mcp-workbench/mcp-workbench/internal/servers/search"
)

// metrics say how good one answer is.
type metrics struct {
	recall1, recall5, recall10 float64 // share of the slots that are met by the first hits
	reciprocal                 float64 // one over the rank of the first tool that is right
	gain                       float64 // nDCG@5, with one gain for each slot
}

func measure(ids []string, gold [][]string) metrics {
	var m metrics
	met := make([]bool, len(gold))
	for rank, id := range ids {
		right := false
		for slot, choices := range gold {
			if !slices.Contains(choices, id) {
				continue
			}
			right = true
			if met[slot] {
				continue
			}
			met[slot] = true
			share := 1 / float64(len(gold))
			if rank < 1 {
				m.recall1 += share
			}
			if rank < 5 {
				m.recall5 += share
				m.gain += discount(rank)
			}
			if rank < 10 {
				m.recall10 += share
			}
		}
		if right && m.reciprocal == 0 {
			m.reciprocal = 1 / float64(rank+1)
		}
	}
	ideal := 0.0
	for rank := range min(len(gold), 5) {
		ideal += discount(rank)
	}
	m.gain = min(m.gain/ideal, 1) // one tool may meet several slots at once
	return m
}

func discount(rank int) float64 { return 1 / math.Log2(float64(rank)+2) }

func (m *metrics) add(other metrics) {
	m.recall1 += other.recall1
	m.recall5 += other.recall5
	m.recall10 += other.recall10
	m.reciprocal += other.reciprocal
	m.gain += other.gain
}

func (m *metrics) over(count int) metrics {
	n := float64(count)
	return metrics{m.recall1 / n, m.recall5 / n, m.recall10 / n, m.reciprocal / n, m.gain / n}
}

// row holds what was measured for one set.
type row struct {
	set   string
	sum   metrics
	count int
	best  []float64 // the score of the first hit of each query
}

// table holds a row for each set, in the order of the queries.
type table struct{ rows []row }

func (t *table) add(set string, m metrics, best float64) {
	i := slices.IndexFunc(t.rows, func(r row) bool { return r.set == set })
	if i < 0 {
		i = len(t.rows)
		t.rows = append(t.rows, row{set: set})
	}
	t.rows[i].sum.add(m)
	t.rows[i].count++
	t.rows[i].best = append(t.rows[i].best, best)
}

// print writes a row for each set and their mean, in which each set counts the same.
func (t *table) print(out io.Writer) {
	aligned := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	defer aligned.Flush()
	fmt.Fprintln(aligned, "set\tR@1\tR@5\tR@10\tMRR\tnDCG@5\tqueries")
	line := func(set string, m metrics, count int) {
		fmt.Fprintf(aligned, "%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%d\n",
			set, m.recall1, m.recall5, m.recall10, m.reciprocal, m.gain, count)
	}
	var sum metrics
	queries := 0
	for _, r := range t.rows {
		line(r.set, r.sum.over(r.count), r.count)
		sum.add(r.sum.over(r.count))
		queries += r.count
	}
	line("MACRO", sum.over(max(len(t.rows), 1)), queries)
}

// printNothing says how well the score of the first hit tells queries for which no tool fits
// from the others: the chance that one of the others has the higher score, and the share that
// is doubtful.
func (t *table) printNothing(out io.Writer, nothing []float64) {
	if len(nothing) == 0 {
		return
	}
	fmt.Fprintf(out, "\nchance that the first hit scores higher than that of a query that no tool fits (%d of them):", len(nothing))
	for _, r := range t.rows {
		higher := 0.0
		for _, score := range r.best {
			for _, other := range nothing {
				switch {
				case score > other:
					higher++
				case score == other:
					higher += 0.5
				}
			}
		}
		fmt.Fprintf(out, " %s=%.2f", r.set, higher/float64(len(r.best)*len(nothing)))
	}
	fmt.Fprintf(out, "\nshare of queries whose first hit is doubtful: no tool fits=%.2f", doubtful(nothing))
	for _, r := range t.rows {
		fmt.Fprintf(out, " %s=%.2f", r.set, doubtful(r.best))
	}
	fmt.Fprintln(out)
}

func doubtful(scores []float64) float64 {
	count := 0
	for _, score := range scores {
		if score < search.Doubtful {
			count++
		}
	}
	return float64(count) / float64(len(scores))
}
