package login

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// lineLimits are the bytes of a typed line, without its end, after which terminals drop the rest: Linux, and macOS and BSD.
var lineLimits = []int{4095, 1023, 1024}

// countInterval is how often the remaining time is shown again. It is rare, because a long pasted line is disturbed by it.
const countInterval = 10 * time.Second

// waiting is the last line or two while the person is in the browser: the remaining time, and below it where to paste.
type waiting struct {
	until  time.Time
	prompt bool // the cursor is on the line below, behind a prompt
	end    func()
}

const prompt = "> "

// say writes lines, above those of the wait.
func (l *login) say(format string, args ...any) {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.erase()
	fmt.Fprintf(l.Screen, format+"\n", args...)
	l.draw()
}

// startWaiting begins to show the remaining time. Where lines cannot update in place, it is told once.
func (l *login) startWaiting(limit time.Duration) {
	if !l.Screen.CanUpdate() {
		l.say("Waiting for the browser, for %.0f minutes at most.", limit.Minutes())
		return
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	l.waiting = &waiting{until: time.Now().Add(limit), prompt: l.Screen.IsInteractive() && l.Input != nil, end: tty.HoldLines()}
	l.draw()
}

func (l *login) endWaiting() {
	l.writing.Lock()
	defer l.writing.Unlock()
	l.erase()
	if l.waiting != nil {
		l.waiting.end()
	}
	l.waiting = nil
}

// draw writes the lines of the wait. The caller holds the lock.
func (l *login) draw() {
	if l.waiting == nil {
		return
	}
	fmt.Fprint(l.Screen, l.remaining())
	if l.waiting.prompt {
		fmt.Fprint(l.Screen, "\n"+prompt)
	}
}

// erase removes the lines of the wait. The caller holds the lock.
func (l *login) erase() {
	switch {
	case l.waiting == nil:
	case l.waiting.prompt:
		fmt.Fprint(l.Screen, "\r\x1b[K\x1b[1A\x1b[K")
	default:
		fmt.Fprint(l.Screen, "\r\x1b[K")
	}
}

func (l *login) remaining() string {
	left := time.Until(l.waiting.until).Round(time.Second)
	text := fmt.Sprintf("Waiting for the browser, %d:%02d left", int(left.Minutes()), int(left.Seconds())%60)
	if l.waiting.prompt {
		text += "; paste an address here, or press Ctrl-C:"
	}
	return l.Screen.Paint(tty.Faint, text)
}

// countDown shows the remaining time until ctx ends.
func (l *login) countDown(ctx context.Context) {
	if !l.Screen.CanUpdate() {
		return
	}
	ticker := time.NewTicker(countInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			l.writing.Lock()
			switch {
			case l.waiting == nil:
			case l.waiting.prompt: // what is typed stays
				fmt.Fprint(l.Screen, "\x1b7\x1b[1A\r\x1b[K"+l.remaining()+"\x1b8")
			default:
				l.erase()
				l.draw()
			}
			l.writing.Unlock()
		}
	}
}

// readPasted reads pasted addresses until one is right, the input ends, or ctx ends.
func (l *login) readPasted(ctx context.Context) {
	if l.Input == nil {
		return
	}
	for {
		text, err := l.Input.Read(ctx)
		if ctx.Err() != nil {
			return
		}
		isEnd := errors.Is(err, io.EOF)
		if !isEnd {
			l.acknowledge()
		}
		length := len(strings.TrimRight(text, "\r\n"))
		switch text = strings.TrimSpace(text); {
		case err != nil && !isEnd:
		case text != "":
			if err = l.attempt.Paste(text); err == nil || l.attempt.HasEnded() {
				return // how it ended is told once
			}
			if l.Screen.IsInteractive() && slices.Contains(lineLimits, length) {
				err = fmt.Errorf("the terminal cut the line after %d characters. Forward the port of the login instead (%s), and open %s on your machine; or give the address through a pipe, as docs/login.md shows",
					length, l.forwarding(), l.attempt.Page())
			}
		default:
			err = nil
		}
		if err != nil {
			l.say("%s %s", l.Screen.Paint(tty.Caution, "!"), l.Screen.Wrap(l.clean(err.Error()), 2))
		}
		if isEnd {
			return
		}
	}
}

// forwarding returns the command that lets a browser elsewhere reach the page of the login.
func (l *login) forwarding() string {
	page, err := url.Parse(l.attempt.Page())
	if err != nil {
		return "ssh -L"
	}
	return "ssh -L " + page.Port() + ":" + page.Host + " THIS-MACHINE"
}

// acknowledge continues below a line that was typed: Enter moved the cursor there.
func (l *login) acknowledge() {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.waiting != nil && l.waiting.prompt {
		l.draw()
	}
}
