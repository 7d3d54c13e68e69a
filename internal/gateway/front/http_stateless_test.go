package front

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const modernMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// modernRequest is a request with its headers.
func modernRequest(method, members string) (body string, headers []string) {
	if members != "" {
		members += ","
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":7,"method":%q,"params":{%s%s}}`, method, members, modernMeta),
		[]string{"MCP-Protocol-Version: 2026-07-28", "Mcp-Method: " + method}
}

func TestModernHeadersAreChecked(t *testing.T) {
	address, _ := listen(t, newServer(Options{}), HTTPOptions{})
	list, listHeaders := modernRequest("tools/list", "")
	open, openHeaders := modernRequest("tools/call", `"name":"open_toolbox","arguments":{"toolbox":"empty"}`)
	odd, oddHeaders := modernRequest("tools/call", `"name":"öpen","arguments":{}`)
	read, readHeaders := modernRequest("resources/read", `"uri":"x:1"`)
	ping, pingHeaders := modernRequest("ping", "")
	unknown, unknownHeaders := modernRequest("no/such", "")
	const meta = "io.modelcontextprotocol/"
	for _, test := range []struct {
		name, body string
		headers    []string
		status     int
		want       string
	}{
		{"right", list, listHeaders, 200, `"resultType":"complete"`},
		{"a call", open, append(openHeaders, "Mcp-Name: open_toolbox"), 200, `"resultType":"complete"`},
		{"a call in base64", open, append(openHeaders, "Mcp-Name: =?base64?b3Blbl90b29sYm94?="), 200, `"resultType":"complete"`},
		{"another revision", list, append(listHeaders, "MCP-Protocol-Version: 2025-11-25"), 400, `-32020`},
		{"no revision", list, append(listHeaders, "MCP-Protocol-Version"), 400, `-32020`},
		{"another method", list, append(listHeaders, "Mcp-Method: tools/call"), 400, `-32020`},
		{"a method in capitals", list, append(listHeaders, "Mcp-Method: TOOLS/LIST"), 400, `-32020`},
		{"no method", list, append(listHeaders, "Mcp-Method"), 400, `-32020`},
		{"no name", open, openHeaders, 400, `-32020`},
		{"another name", open, append(openHeaders, "Mcp-Name: use_tool"), 400, `-32020`},
		{"a name that is no base64", open, append(openHeaders, "Mcp-Name: =?base64?b3?="), 400, `-32020`},
		{"a name that needs base64", odd, append(oddHeaders, "Mcp-Name: öpen"), 400, `-32020`},
		{"a name in base64", odd, append(oddHeaders, "Mcp-Name: =?base64?w7ZwZW4=?="), 200, `Invalid tool name`},
		{"another resource", read, append(readHeaders, "Mcp-Name: x:2"), 400, `-32020`},
		{"an unknown resource", read, append(readHeaders, "Mcp-Name: x:1"), 400, `-32602`},
		{"removed", ping, pingHeaders, 404, `-32601`},
		{"unknown", unknown, unknownHeaders, 404, `-32601`},
		{"no _meta", `{"jsonrpc":"2.0","id":7,"method":"tools/list"}`, listHeaders, 400, `-32602`},
		{"no capabilities", strings.Replace(list, meta+"clientCapabilities", meta+"x", 1), listHeaders, 400, `-32602`},
		{"an unknown revision", strings.Replace(list, "2026-07-28", "2031-01-01", 1), append(listHeaders, "MCP-Protocol-Version: 2031-01-01"), 400, `"code":-32022,`},
		{"an old revision", strings.Replace(list, "2026-07-28", "1900-01-01", 1), append(listHeaders, "MCP-Protocol-Version: 1900-01-01"), 400, `"requested":"1900-01-01"`},
		{"a batch", `[` + list + `]`, listHeaders, 400, `-32600`},
		{"a response", `{"jsonrpc":"2.0","id":7,"result":{}}`, listHeaders, 400, `-32600`},
		{"no message", `{`, listHeaders, 400, `-32700`},
		{"a notification", `{"jsonrpc":"2.0","method":"notifications/x"}`, listHeaders, 202, ``},
		{"a session that is none", list, append(listHeaders, "Mcp-Session-Id: x"), 200, `"resultType":"complete"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			response, body := exchangeWith(t, "POST", address+"/mcp", test.body, test.headers...)
			if response.StatusCode != test.status || !strings.Contains(body, test.want) {
				t.Errorf("the answer is %s %s, want %d and %s", response.Status, body, test.status, test.want)
			}
			if id := response.Header.Get("Mcp-Session-Id"); id != "" {
				t.Errorf("a session was given: %s", id)
			}
		})
	}
	for _, method := range []string{"GET", "DELETE"} {
		response, _ := exchangeWith(t, method, address+"/mcp", "", "MCP-Protocol-Version: 2026-07-28")
		if response.StatusCode != http.StatusMethodNotAllowed || response.Header.Get("Allow") != "POST" {
			t.Errorf("%s is answered with %s, %v", method, response.Status, response.Header)
		}
	}
}

func TestModernStreamEndsWithItsClient(t *testing.T) {
	server := newServer(Options{})
	address, stop := listen(t, server, HTTPOptions{})
	body, headers := modernRequest("subscriptions/listen", `"notifications":{"toolsListChanged":true}`)
	for _, name := range []string{"the client goes", "the workbench ends"} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			request, err := http.NewRequestWithContext(ctx, http.MethodPost, address+"/mcp", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			request.Header.Set("Content-Type", "application/json")
			for _, header := range headers {
				name, value, _ := strings.Cut(header, ": ")
				request.Header.Set(name, value)
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			defer response.Body.Close()
			lines := bufio.NewReader(response.Body)
			for _, want := range []string{"event: message\n", `data: {"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":7},"notifications":{"toolsListChanged":true}}}` + "\n"} {
				if line, err := lines.ReadString('\n'); err != nil || line != want {
					t.Fatalf("the stream holds %q, %v; want %q", line, err, want)
				}
			}
			if name == "the workbench ends" {
				if err := stop(); err != nil {
					t.Error(err)
				}
				rest, err := io.ReadAll(lines)
				if want := `data: {"jsonrpc":"2.0","id":7,"result":{"resultType":"complete",`; err != nil || !strings.Contains(string(rest), want) {
					t.Errorf("the stream ends with %q, %v; want %s", rest, err, want)
				}
				return
			}
			cancel()
			server.mu.Lock()
			sessions := slices.Collect(maps.Keys(server.sessions))
			server.mu.Unlock()
			for _, client := range sessions {
				client.requests.unanswered.Wait() // hangs if the request does not end
			}
		})
	}
}

func TestHeadersOfNumbers(t *testing.T) {
	for _, test := range []struct {
		a, b string
		same bool
	}{{"42", "42.0", true}, {"-7", "-7", true}, {"1e2", "100", true}, {"42", "43", false}, {"x", "x", false}, {"9007199254740993", "9007199254740992", false}} {
		if sameNumber(test.a, test.b) != test.same {
			t.Errorf("%s and %s: want %v", test.a, test.b, test.same)
		}
	}
}

func FuzzDecodeHeader(f *testing.F) {
	for _, seed := range []string{"plain", "=?base64?w7ZwZW4=?=", "=?base64??=", "=?base64?=", "\x7f"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if text, ok := decodeHeader(value); ok && wire.AppendString(nil, text) == nil {
			t.Error("a header was decoded into something that is no text")
		}
	})
}
