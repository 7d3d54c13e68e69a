package mcptest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// This file is about revision 2026-07-28, which has no handshake: see Server.Era.

const modernRevision = "2026-07-28"

// isModern reports whether a request says itself which revision it is of.
func (r request) isModern() bool { return r.Params.Meta.Version != "" }

// complete is the first member of a modern result; "" for a request of before.
func (r request) complete() string {
	if !r.isModern() {
		return ""
	}
	return `"resultType":"complete",`
}

// cached is complete for a result that may be kept.
func (r request) cached() string {
	if !r.isModern() {
		return ""
	}
	return r.complete() + `"ttlMs":0,"cacheScope":"private",`
}

// isUntoldProbe reports whether a line is a probe that the specification of the server
// says nothing of.
func (c *conn) isUntoldProbe(line []byte) bool {
	_, told := c.server.On["server/discover"]
	return c.server.Era == "" && !told && bytes.Contains(line, []byte(`"method":"server/discover"`))
}

// eraProblem is the error with which the server refuses a request that is not of an era
// that it speaks, or that lacks what a modern one must have.
func (c *conn) eraProblem(message request) string {
	meta := message.Params.Meta
	switch {
	case c.isUnsettling(message):
		return `{"code":-32022,"message":"this connection serves the other era","data":{"supported":["2026-07-28"]}}`
	case c.server.Era == "", c.server.Era == "both" && !message.isModern():
		return ""
	case message.Method == "initialize", message.Method == "ping":
		return `{"code":-32601,"message":"Method not found; this server speaks 2026-07-28"}`
	case meta.Version == "", len(meta.Capabilities) == 0:
		return `{"code":-32602,"message":"_meta lacks the protocol version or the client's capabilities"}`
	case meta.Version != modernRevision:
		return fmt.Sprintf(`{"code":-32022,"message":"Unsupported protocol version","data":{"supported":["2026-07-28"],"requested":%s}}`, quote(meta.Version))
	}
	return ""
}

// isUnsettling reports whether a request is of another era than the first one, to a server that
// minds.
func (c *conn) isUnsettling(message request) bool {
	era := "legacy"
	if message.isModern() {
		era = "modern"
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.server.Settles || len(message.ID) == 0 {
		return false
	}
	if c.settled == "" {
		c.settled = era
	}
	return c.settled != era
}

func (c *conn) discover(message request) {
	versions := []string{modernRevision}
	switch {
	case c.server.Era == "":
		c.unknown(message)
		return
	case c.server.Era == "both" && !c.server.Unlisted:
		versions = append(versions, "2025-11-25")
	}
	supported, _ := json.Marshal(versions)
	c.result(message, fmt.Appendf(nil, `{%s"supportedVersions":%s,"capabilities":%s}`, message.cached(), supported, c.capabilities()))
}

// listen acknowledges a subscription, which lasts as long as the session, or over HTTP its response.
func (c *conn) listen(message request) {
	if c.server.Era == "" {
		c.unknown(message)
		return
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	c.send(message, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{%s,"notifications":%s}}`,
		subscriptionMeta(message.ID), message.Params.Wanted))
	c.update(func() { c.listeners = append(c.listeners, message) })
}

// wanted is what a client subscribed to.
type wanted struct {
	Tools     bool     `json:"toolsListChanged"`
	Resources []string `json:"resourceSubscriptions"`
	Tasks     []string `json:"taskIds"`
}

// tellListeners notifies those who subscribed to it; members are what the params have
// beside their _meta. Called with telling held.
func (c *conn) tellListeners(method, members string, isFor func(wanted) bool) (listeners []request) {
	c.mu.Lock()
	listeners = c.listeners
	c.mu.Unlock()
	for _, listener := range listeners {
		var w wanted
		if json.Unmarshal(listener.Params.Wanted, &w) == nil && isFor(w) {
			params := subscriptionMeta(listener.ID)
			if members != "" {
				params += "," + members
			}
			c.send(listener, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":%s,"params":{%s}}`, quote(method), params))
		}
	}
	return listeners
}

// tellChange says that the tools changed, to a modern client only if it subscribed.
func (c *conn) tellChange() {
	c.telling.Lock()
	defer c.telling.Unlock()
	listeners := c.tellListeners("notifications/tools/list_changed", "", func(w wanted) bool { return w.Tools })
	// A client of stdio that subscribed is told once; over HTTP others may be there.
	if len(listeners) > 0 && listeners[0].out == nil || c.server.Era == "modern" {
		return
	}
	c.send(request{}, []byte(`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`))
}

// tellUpdate says that a resource was updated.
func (c *conn) tellUpdate(uri string) {
	c.telling.Lock()
	defer c.telling.Unlock()
	member := `"uri":` + string(quote(uri))
	c.tellListeners("notifications/resources/updated", member, func(w wanted) bool { return slices.Contains(w.Resources, uri) })
	if c.server.Era != "modern" {
		c.send(request{}, fmt.Appendf(nil, `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{%s}}`, member))
	}
}

// tellTask says what became of a task.
func (c *conn) tellTask(params json.RawMessage) {
	var task struct {
		ID string `json:"taskId"`
	}
	if err := json.Unmarshal(params, &task); err != nil {
		c.logf("not a task: %v", err)
		return
	}
	c.telling.Lock()
	defer c.telling.Unlock()
	members := strings.TrimSuffix(strings.TrimPrefix(string(params), "{"), "}")
	c.tellListeners("notifications/tasks", members, func(w wanted) bool { return slices.Contains(w.Tasks, task.ID) })
}

func subscriptionMeta(id json.RawMessage) string {
	return fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/subscriptionId":%s}`, id)
}
