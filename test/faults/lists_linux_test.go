package faults

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mcp-workbench/mcp-workbench/test/faults/rig"
)

const listChanged = "notifications/tools/list_changed"

func (o opened) count(name string) int {
	n := 0
	for _, tool := range o.Tools {
		if tool.Name == name {
			n++
		}
	}
	return n
}

func TestLists(t *testing.T) {
	t.Parallel()
	row(t, "42 same name twice", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "twice"}})
		if o := b.open(promptly); o.count("same") != 1 || o.count("echo") != 1 {
			t.Errorf("listed: %+v", o.Tools)
		}
		b.works("rogue", "same", sibling)
	})
	row(t, "43 absurd schemas, nameless tools", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "absurd"}})
		if o := b.open(promptly); o.count("fine") != 1 || o.count("") != 0 {
			t.Errorf("listed: %+v", o.Tools)
		}
		b.works("rogue", "fine", sibling)
		b.works("rogue", "echo", sibling)
	})
	row(t, "44 10000 tools", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "many"}})
		if o := b.open(recovery); len(o.Tools) != 10001 {
			t.Errorf("%d tools are listed", len(o.Tools))
		}
		b.works("rogue", "tool-9999", sibling)
	})
	row(t, "45 three pages", func(t *testing.T, p pairing) {
		b := start(t, p, box{"rogue": {Role: "pages"}})
		b.open(promptly)
		for _, name := range []string{"echo", "second", "third"} {
			b.works("rogue", name, sibling)
		}
	}, sample)
	for _, role := range []string{"endless-pages", "repeated-page"} {
		row(t, "46 "+role, func(t *testing.T, p pairing) {
			b := start(t, p, box{"rogue": {Role: role}, "good": {Role: "good"}})
			b.open(30 * time.Second)
			b.works("rogue", "echo", sibling)
			b.works("good", "echo", sibling)
		})
	}
	row(t, "47 5000 list_changed in one go", testListChangedFlood)
	row(t, "48 tool added at run time", testToolAdded, sample)
	row(t, "49 tool removed at run time", testToolRemoved)
	row(t, "51 hidden characters in a description", testHidden)
	row(t, "52 tools named like the meta-tools", testImpostor)
	row(t, "53 tool outside toolFilters", testFiltered)
}

func testListChangedFlood(t *testing.T, p pairing) {
	top := map[string]any{"toolMode": "dynamic"}
	b := startWith(t, p, rig.Options{Top: top, Boxes: map[string]box{"dev": {"rogue": {Role: "changing"}, "good": {Role: "good"}}}})
	b.open(promptly)
	flood := b.Use("dev", "rogue", "flood", "{}")
	b.works("good", "echo", sibling)
	if a := b.wait(flood, promptly); a.IsError {
		t.Fatalf("flood: %s", a.Line)
	}
	err := rig.Eventually(recovery, func() error { // by then the last change was read
		if a := b.use("rogue", "fresh", promptly); a.IsError {
			return errors.New(a.Text)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if reads := strings.Count(b.ServerLog("rogue"), `"tools/list"`); reads > 51 {
		t.Errorf("the tools were read %d times", reads)
	}
	if notices := b.Notices(listChanged); notices > 51 {
		t.Errorf("the client was told %d times", notices)
	}
}

func testToolAdded(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "changing"}})
	b.open(promptly)
	b.use("rogue", "add", promptly)
	err := rig.Eventually(promptly, func() error {
		if a := b.use("rogue", "added", promptly); a.Text != "added {}" {
			return fmt.Errorf("the new tool answers %s", a.Line)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

func testToolRemoved(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "changing"}})
	b.open(promptly)
	b.use("rogue", "remove", promptly)
	const gone = "Tool 'victim' not found in server 'rogue' (toolbox 'dev')"
	err := rig.Eventually(promptly, func() error { // the list has to be read again first
		if a := b.use("rogue", "victim", promptly); !a.IsError || !strings.Contains(a.Text, gone) {
			return fmt.Errorf("the tool that is gone answers %s", a.Line)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	if o := b.open(promptly); o.count("victim") != 0 {
		t.Errorf("listed: %+v", o.Tools)
	}
	b.works("rogue", "echo", sibling)
}

func testHidden(t *testing.T, p pairing) {
	for _, mode := range []string{"proxy", "dynamic"} {
		b := startWith(t, p, rig.Options{
			Top: map[string]any{"toolMode": mode}, Boxes: map[string]box{"dev": {"rogue": {Role: "hidden"}}},
		})
		a := b.wait(b.Open("dev"), promptly)
		list := b.wait(b.Begin("tools/list", "{}"), promptly)
		for _, text := range []string{a.Text, unescape(t, list.Result)} {
			if i := strings.IndexAny(text, "\u200b\u202e\u2066\U000e0041\x1b\ufeff"); i >= 0 {
				t.Errorf("mode %s: hidden characters reached the client: %.200q", mode, text[max(0, i-40):])
			}
		}
		if !strings.Contains(a.Text, "words") {
			t.Errorf("mode %s: nothing of the description is left: %s", mode, a.Text)
		}
	}
}

func testImpostor(t *testing.T, p pairing) {
	for _, mode := range []string{"proxy", "dynamic"} {
		b := startWith(t, p, rig.Options{
			Top: map[string]any{"toolMode": mode}, Boxes: map[string]box{"dev": {"rogue": {Role: "impostor"}}},
		})
		before := toolNames(t, b.wait(b.Begin("tools/list", "{}"), promptly))
		b.open(promptly)
		after := toolNames(t, b.wait(b.Begin("tools/list", "{}"), promptly))
		for _, name := range []string{"open_toolbox", "use_tool"} {
			if before[name] != after[name] {
				t.Errorf("mode %s: %s changed from %s to %s", mode, name, before[name], after[name])
			}
		}
		b.works("rogue", "use_tool", sibling)
		b.works("rogue", "echo", sibling)
	}
}

func testFiltered(t *testing.T, p pairing) {
	b := start(t, p, box{"rogue": {Role: "changing", More: map[string]any{"toolFilters": []string{"echo"}}}})
	if o := b.open(promptly); len(o.Tools) != 1 || o.count("echo") != 1 {
		t.Errorf("listed: %+v", o.Tools)
	}
	if a := b.use("rogue", "victim", promptly); !a.IsError {
		t.Errorf("answered %s", a.Line)
	}
	b.works("rogue", "echo", sibling)
	if strings.Contains(b.ServerLog("rogue"), `"victim"`) {
		t.Error("the call was sent to the server")
	}
}
