package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// do runs steps; it reports whether there is nothing left to answer.
func (c *conn) do(message request, steps []Step) (answered bool) {
	for _, step := range steps {
		if step.Starts > 0 && c.server.Number > step.Starts {
			continue
		}
		if step.State != nil && *step.State != message.Params.State {
			continue
		}
		if step.Wait != "" && !c.wait(message, step.Wait) {
			return true
		}
		c.say(message, step)
		if c.act(message, step) {
			return true
		}
		switch {
		case len(step.Result) > 0:
			c.result(message, step.Result)
		case len(step.Error) > 0:
			c.fail(message, step.Error)
		}
		answered = answered || step.Answered || len(step.Result) > 0 || len(step.Error) > 0
	}
	return answered
}

// say does the parts of a step that write something.
func (c *conn) say(message request, step Step) {
	if step.Stderr != "" {
		fmt.Fprintln(os.Stderr, step.Stderr)
	}
	if len(step.Send) > 0 {
		c.send(message, fill(step.Send, message))
	}
	if len(step.Progress) > 0 {
		params := bytes.TrimPrefix(step.Progress, []byte("{"))
		c.send(message, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,%s}`,
			message.Params.Meta.Token, params))
	}
	if step.Ask != "" {
		c.ask(message, step.Ask, step.With)
	}
	if step.Change != nil {
		c.update(func() { c.pages = [][]json.RawMessage{step.Change} })
		c.tellChange()
	}
	if step.Updated != "" {
		c.tellUpdate(step.Updated)
	}
	if len(step.Task) > 0 {
		c.tellTask(step.Task)
	}
}

// act does the parts of a step that concern the process; it reports whether the server
// ends.
func (c *conn) act(message request, step Step) (ends bool) {
	if step.Spawn != "" {
		pid, err := spawn(step.Spawn)
		if err != nil {
			c.logf("cannot spawn: %v", err)
		} else {
			c.logf("spawn %d", pid)
		}
	}
	if step.Grow > 0 {
		grow(step.Grow)
	}
	if step.CloseStdout {
		c.outletOf(message).cut()
	}
	if sessions, ok := c.out.(*sessions); ok && step.Forget {
		sessions.forget(c)
	}
	if step.Exit != nil {
		c.logf("exit %d", *step.Exit)
		c.end(&Exit{*step.Exit})
		return true
	}
	return false
}

// grown keeps what servers have taken.
var grown struct {
	sync.Mutex
	memory [][]byte
}

// grow takes memory, and uses it, so that it is resident.
func grow(mebibytes int) {
	memory := make([]byte, mebibytes<<20)
	for i := 0; i < len(memory); i += 1 << 12 {
		memory[i] = 1
	}
	grown.Lock()
	defer grown.Unlock()
	grown.memory = append(grown.memory, memory)
}

// fill returns the line that Step.Send stands for.
func fill(send json.RawMessage, message request) []byte {
	line := bytes.Clone(send)
	var text string
	if json.Unmarshal(send, &text) == nil {
		line = []byte(text)
	}
	for name, value := range map[string]json.RawMessage{"${id}": message.ID, "${token}": message.Params.Meta.Token} {
		line = bytes.ReplaceAll(line, []byte(`"`+name+`"`), value)
		line = bytes.ReplaceAll(line, []byte(name), value)
	}
	return line
}

// ask sends a request to the client and waits for its answer.
func (c *conn) ask(message request, method string, params json.RawMessage) {
	c.mu.Lock()
	c.asked++
	id := fmt.Sprintf(`"ask-%d"`, c.asked)
	c.mu.Unlock()
	rest := ""
	if len(params) > 0 {
		rest = `,"params":` + string(params)
	}
	c.send(message, fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%s,"method":%s%s}`, id, quote(method), rest))
	c.until(func() bool { return c.answers[id] })
}

// wait blocks as Step.Wait says; it reports whether what it waited for happened.
func (c *conn) wait(message request, what string) bool {
	kind, detail, _ := strings.Cut(what, " ")
	switch kind {
	case "cancelled":
		return c.until(func() bool { return c.cancelled[message.key()] })
	case "call":
		return c.until(func() bool {
			for _, name := range c.calls {
				if name == detail {
					return true
				}
			}
			return false
		})
	case "calls":
		number, err := strconv.Atoi(detail)
		return err == nil && c.until(func() bool { return len(c.calls) >= number })
	case "eof":
		return c.until(func() bool { return c.eof })
	case "file":
		return c.untilFile(detail)
	case "forever":
		return c.until(func() bool { return false })
	}
	c.logf("cannot wait for '%s'", what)
	return c.until(func() bool { return false })
}

// until blocks until the condition holds; it reports false if the server ended first.
func (c *conn) until(holds func() bool) bool {
	for {
		c.mu.Lock()
		happened, changed := holds(), c.changed
		c.mu.Unlock()
		if happened {
			return true
		}
		select {
		case <-changed:
		case <-c.quit:
			return false
		}
	}
}

// untilFile looks again and again: a file is what a script can make most easily.
func (c *conn) untilFile(path string) bool {
	ticker := time.NewTicker(5 * time.Millisecond)
	defer ticker.Stop()
	for {
		if _, err := os.Stat(path); err == nil {
			return true
		}
		select {
		case <-ticker.C:
		case <-c.quit:
			return false
		}
	}
}
