package tty

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

func TestLinesWaitForTheAnswer(t *testing.T) {
	var screen bytes.Buffer
	log := Behind(&screen)
	fmt.Fprintln(log, "before")
	outer := HoldLines()
	inner := HoldLines()
	fmt.Fprint(&screen, "Really? ")
	fmt.Fprintln(log, "one")
	inner()
	inner() // once is enough
	fmt.Fprintln(log, "two")
	fmt.Fprint(&screen, "yes\n")
	outer()
	fmt.Fprintln(log, "after")
	if got, want := screen.String(), "before\nReally? yes\none\ntwo\nafter\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestHeldLinesAreBounded(t *testing.T) {
	var screen bytes.Buffer
	log := Behind(&screen)
	release := HoldLines()
	line := strings.Repeat("x", 1023) + "\n"
	for range 70 {
		fmt.Fprint(log, line)
	}
	release()
	if got := screen.String(); len(got) > maxHeld+100 || !strings.HasSuffix(got, "… and 6 more lines\n") {
		t.Errorf("%d bytes, ending in %q", len(got), got[len(got)-30:])
	}
}
