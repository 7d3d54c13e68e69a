//go:build unix

package app

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
)

const swappingSpec = `{"tools":[{"name":"a","title":"One","inputSchema":{}},{"name":"swap","inputSchema":{}},{"name":"again","inputSchema":{}},{"name":"back","inputSchema":{}}],"calls":{
 "swap":[{"change":[{"name":"a","title":"Two hunter2hunter2","inputSchema":{}},{"name":"swap","inputSchema":{}},{"name":"again","inputSchema":{}},{"name":"back","inputSchema":{}}]},{"result":{"content":[]}}],
 "again":[{"change":[{"name":"a","title":"Three\u200b","inputSchema":{}},{"name":"swap","inputSchema":{}},{"name":"again","inputSchema":{}},{"name":"back","inputSchema":{}}]},{"result":{"content":[]}}],
 "back":[{"change":[{"name":"a","title":"One","inputSchema":{}},{"name":"swap","inputSchema":{}},{"name":"again","inputSchema":{}},{"name":"back","inputSchema":{}}]},{"result":{"content":[]}}]}}`

// change has the server change its tools, and waits until the title of the first is another one.
func change(t *testing.T, client *control.Client, by, title string) control.DefinitionChange {
	t.Helper()
	if last := try(t, client, by, "{}", nil); !strings.Contains(string(last.Result), `"content":[]`) {
		t.Fatalf("%s, %v", last.Result, last.Error)
	}
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		all, err := client.Changes(ctx, control.ChangeFilter{Toolbox: "T", Server: "S0"})
		if err != nil {
			t.Fatal(err)
		}
		for _, one := range all.Changes {
			if title != "" && slices.ContainsFunc(one.Diff, func(line control.DiffLine) bool { return line.Op == "+" && strings.Contains(line.Text, title) }) {
				return one
			}
		}
		if title == "" && len(all.Changes) == 0 {
			return control.DefinitionChange{}
		}
		<-again.C
	}
}

func codeOf(err error) toolbox.Code {
	if known, ok := errors.AsType[*toolbox.Error](err); ok {
		return known.Code
	}
	return ""
}

// A server cannot swap a definition between looking and accepting, and what is accepted is the known one from then on.
func TestAcceptIsOfWhatThePersonSaw(t *testing.T) {
	a, client := seeing(t, nil, swappingSpec)
	know(t, a)
	first := change(t, client, "swap", "Two [hidden]")
	seen := a.changesSeen()
	second := change(t, client, "again", "Three⟨U+200B⟩")
	if a.changesSeen() == seen || a.openChanges() != 1 {
		t.Errorf("%d changes are open", a.openChanges())
	}
	if err := client.Accept(t.Context(), first); codeOf(err) != toolbox.ChangeOutdated {
		t.Errorf("what is not offered any more is accepted: %v", err)
	}
	if second.Command != "mcp-workbench changes --accept T/S0/a" || second.New || second.Withheld != "" {
		t.Errorf("%+v", second)
	}
	if err := client.Accept(t.Context(), second); err != nil {
		t.Fatal(err)
	}
	if err := client.Accept(t.Context(), second); codeOf(err) != toolbox.ChangeNotFound {
		t.Errorf("it is accepted twice: %v", err)
	}
	server, _ := a.Server("T", "S0")
	if tool, _ := server.Offered().Find("a"); tool.Changed || a.openChanges() != 0 {
		t.Error("the mark stays")
	}
	// A copy for another client still offers the first definition, which is no change to accept.
}

func TestChangingBackIsNoChange(t *testing.T) {
	a, client := seeing(t, nil, swappingSpec)
	know(t, a)
	change(t, client, "swap", "Two")
	change(t, client, "back", "")
	if a.openChanges() != 0 {
		t.Errorf("%d changes are open", a.openChanges())
	}
}

// Under a lock, accepting writes one record, and clients get the tool at once. A lock that is gone approves nothing.
func TestAcceptWritesOneRecordOfTheLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "workbench-config.json")
	lock := []byte(`{"version": 2, "toolboxes": {}}`)
	if err := os.WriteFile(filepath.Join(filepath.Dir(path), toolbox.LockFile), lock, 0o600); err != nil {
		t.Fatal(err)
	}
	a, client := seeing(t, func(cfg *config.Config) {
		cfg.Toolboxes[0].File = path
		cfg.Files = []config.File{{Path: path, Toolboxes: []string{"T"}, Locked: true, LockedBy: path, Lock: lock}}
	}, swappingSpec)
	know(t, a)
	all, err := client.Changes(t.Context(), control.ChangeFilter{})
	if err != nil || len(all.Changes) != 4 || !all.Changes[0].New || all.Changes[0].Withheld == "" {
		t.Fatalf("%+v, %v", all, err)
	}
	if err := client.Accept(t.Context(), all.Changes[0]); err != nil {
		t.Fatal(err)
	}
	server, _ := a.Server("T", "S0")
	if names := server.Offered().Names(); !slices.Equal(names, []string{"a"}) || a.openChanges() != 3 {
		t.Errorf("clients get %q, %d are open", names, a.openChanges())
	}
	file := a.config.Load().Files[0]
	if onDisk, err := file.ReadLock(); err != nil || strings.Join(strings.Fields(string(onDisk)), " ") != strings.Join(strings.Fields(string(file.Lock)), " ") || strings.Contains(string(onDisk), `"swap"`) || !strings.Contains(string(onDisk), `"One"`) {
		t.Errorf("%q, %q, %v", onDisk, file.Lock, err)
	}
	if err := os.Remove(file.LockPath()); err != nil {
		t.Fatal(err)
	}
	if err := client.Accept(t.Context(), all.Changes[1]); codeOf(err) != toolbox.LockMissing {
		t.Errorf("a lock is made: %v", err)
	}
}
