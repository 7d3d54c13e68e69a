// Command conformance runs the conformance suite of MCP against servers and clients that
// others wrote, once directly and once with the workbench between, and writes both results
// side by side into docs/conformance.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

// limit bounds the whole run, installing included.
const limit = 15 * time.Minute

// orders are the command line.
type orders struct {
	binary string
	folder string
	report string
	only   string
	keep   string
	check  bool
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == eraRole {
		os.Exit(holdEra(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == clientRole {
		os.Exit(asClient(os.Args[2:]))
	}
	if len(os.Args) > 1 && os.Args[1] == browserRole {
		os.Exit(browse(os.Args[2:]))
	}
	var o orders
	flag.StringVar(&o.binary, "binary", "bin/mcp-workbench", "the workbench")
	flag.StringVar(&o.folder, "folder", "test/conformance", "where package.json is")
	flag.StringVar(&o.report, "report", "docs/conformance.md", "the table that is written, or compared with")
	flag.StringVar(&o.only, "only", "", "run one subject only, such as go-sdk; nothing is written")
	flag.StringVar(&o.keep, "keep", "", "keep what the suite saved in this folder")
	flag.BoolVar(&o.check, "check", false, "write nothing; fail if the workbench does worse than the server or client alone, or than the table")
	flag.Parse()

	if err := run(o); err != nil {
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(1)
	}
}

func run(o orders) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	scratch, err := os.MkdirTemp("", "workbench-conformance-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(scratch)
	saved := filepath.Join(scratch, "results")
	if o.keep != "" {
		if saved, err = filepath.Abs(o.keep); err != nil {
			return err
		}
	}
	tools, err := prepare(ctx, o, scratch)
	if err != nil {
		return err
	}
	report := &report{versions: tools.versions, required: map[string][]scenario{firstRevision: firstScenarios}}
	for _, revision := range []string{legacyRevision, modernRevision} {
		if report.required[revision], err = tools.requirements(ctx, revision); err != nil {
			return err
		}
	}
	for _, subject := range tools.subjects() {
		if o.only != "" && o.only != subject.name {
			continue
		}
		for _, route := range subject.routes {
			begun := time.Now()
			folder := filepath.Join(saved, subject.name+" "+route.name)
			results, err := route.run(ctx, selection{revision: subject.revision}, folder)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", subject.name, route.name, err)
			}
			report.add(subject, route.name, results)
			if err := again(ctx, report, subject.revision, route, folder); err != nil {
				return err
			}
			fmt.Printf("%-38s %-22s %s (%.0f s)\n", subject.name, route.name, report.total(subject.name, route.name), time.Since(begun).Seconds())
		}
	}
	return conclude(o, report)
}

// again runs what did worse than directly once more, each scenario alone: some of them give the
// subject a fixed time, or leave it to chance which of two streams an answer takes, and the suite starts many
// at once.
func again(ctx context.Context, found *report, revision string, route route, folder string) error {
	for _, name := range found.suspects() {
		results, err := route.run(ctx, selection{revision, name}, filepath.Join(folder, "again", name))
		if err != nil {
			return fmt.Errorf("%s, once more: %w", name, err)
		}
		if checks, ok := results[name]; ok {
			found.replace(name, checks)
		}
	}
	return nil
}

// conclude writes the report, or holds it against the one that is checked in.
func conclude(o orders, found *report) error {
	worse := found.worseThanDirect()
	if o.check {
		text, err := os.ReadFile(o.report)
		if err != nil {
			return err
		}
		worse = append(worse, found.worseThan(parseCells(string(text)))...)
	}
	for _, line := range worse {
		fmt.Println("worse:", line)
	}
	for _, line := range found.needless() {
		fmt.Println("no worse than directly this time, although there is a reason:", line)
	}
	if !o.check && o.only == "" {
		if err := os.WriteFile(o.report, []byte(found.markdown()), 0o644); err != nil {
			return err
		}
		fmt.Println("wrote", o.report)
	}
	if len(worse) > 0 && o.check {
		return errors.New("the workbench does worse than it should: see the lines above")
	}
	return nil
}
