package config

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// summary writes problems as "line:column path: message", without hints.
func summary(problems []Problem) []string {
	var lines []string
	for _, p := range problems {
		lines = append(lines, fmt.Sprintf("%d:%d %s: %s", p.Line, p.Column, p.Path, p.Message))
	}
	return lines
}

// problems parses a file that must be refused.
func problems(t *testing.T, file string, environ ...string) *Error {
	t.Helper()
	_, err := Strict(Parse("test.json", []byte(file), options(environ...)))
	e, ok := errors.AsType[*Error](err)
	if !ok {
		t.Fatalf("error %v for %s", err, file)
	}
	return e
}

func TestSyntaxErrors(t *testing.T) {
	for _, test := range []struct{ name, file, want, hint string }{
		{"empty", "", "1:1 : the file is empty", ""},
		{"blank", " \n\t\r\n", "1:1 : the file is empty", ""},
		{"only a comment", "// nothing", "1:11 : the file is empty", ""},
		{"missing comma", "{\n  \"a\": 1\n  \"b\": 2\n}", "3:3 : invalid character '\"' after object value (expecting ',' or '}')", "is a comma missing before this?"},
		{"column in characters", `{"äöü€😀": }`, "1:11 : invalid character '}' at start of value", ""},
		{"ends early", "{\"a\": {\n\"b\": [1", "2:8 : the file ends too early: the '[' on line 2 is not closed", ""},
		{"after the value", "{} x", "1:4 : invalid character 'x' after top-level value", ""},
		{"not a word", `{"a": True}`, "1:7 : this is not a JSON value", "keys and text need double quotes; the words are true, false and null"},
		{"key without quotes", `{toolboxes: {}}`, "1:2 : this is not a JSON value", "keys and text need double quotes; the words are true, false and null"},
		{"number as key", `{1: {}}`, "1:2 : invalid character '1' at start of object name", "keys need double quotes"},
		{"single quotes", `{'a': "it"}`, "1:2 : invalid character '\\'' at start of value", "JSON uses double quotes"},
		{"an earlier mistake first", "{'it\"s': 1}", "1:2 : invalid character '\\'' at start of value", "JSON uses double quotes"},
		{"string not closed", "{\"a\": \"b\n}", "1:7 : the string that starts here is not closed on its line", `a line break in a string is written \n`},
		{"string at the end", "{\"a\": \"b", "1:7 : the string that starts here is not closed", ""},
		{"backslash at the end", "{\"a\": \"b\\", "1:9 : invalid escape in a string", `write a backslash as \\`},
		{"escape", `{"a": "C:\dir"}`, "1:10 : invalid escape in a string", `write a backslash as \\`},
		{"unicode escape", `{"a": "\u12x4"}`, "1:8 : invalid escape in a string", `write a backslash as \\`},
		{"control character", "{\"a\": \"b\tc\"}", "1:9 : control character U+0009 in a string", `write it as \u0009`},
		{"comment not closed", "{} /* x", "1:4 : the comment that starts here is not closed", "end it with */"},
		{"invalid UTF-8", "{\n\"a\": \"\xff\"}", "2:7 : the file is not valid UTF-8", "save the file as UTF-8"},
		{"UTF-16", "\xff\xfe{\x00}\x00", "1:1 : the file is not valid UTF-8", "it looks like UTF-16; save the file as UTF-8"},
		{"deep", strings.Repeat("[", 1_000_000), "1:101 : nested more than 100 levels deep", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := problems(t, test.file)
			got := strings.Replace(summary(e.Problems)[0], invalidJSON, "", 1)
			if got != test.want || e.Problems[0].Hint != test.hint || len(e.Problems) != 1 {
				t.Errorf("got  %s\n     %q\nwant %s\n     %q", got, e.Problems[0].Hint, test.want, test.hint)
			}
			if want := "test.json:"; !strings.HasPrefix(e.Error(), want) || !strings.Contains(e.Error(), ": Invalid JSON in config file: ") {
				t.Errorf("the kept sentence is missing: %s", e)
			}
		})
	}
}

func TestStructureErrors(t *testing.T) {
	const s = "config.toolboxes.T.mcpServers.S"
	const named = "Server 'S' in toolbox 'T'"
	for _, test := range []struct {
		name, file string
		want       []string
	}{
		{"array", `[]`, []string{"1:1 config: Configuration must have a 'toolboxes' object (found an array)"}},
		{"null", ` null`, []string{"1:2 config: Configuration must have a 'toolboxes' object (found null)"}},
		{"no toolboxes", `{}`, []string{"1:1 config: Configuration must have a 'toolboxes' object"}},
		{"toolboxes null", `{"toolboxes": null}`, []string{"1:15 config.toolboxes: Configuration must have a 'toolboxes' object (found null)"}},
		{"toolbox is no object", `{"toolboxes": {"T": []}}`, []string{"1:21 config.toolboxes.T: Toolbox 'T' must be an object (found an array)"}},
		{"no servers object", `{"toolboxes": {"T": {}}}`, []string{"1:16 config.toolboxes.T: Toolbox 'T' must have an 'mcpServers' object"}},
		{"servers as array", `{"toolboxes": {"T": {"mcpServers": []}}}`, []string{"1:36 config.toolboxes.T.mcpServers: Toolbox 'T' must have an 'mcpServers' object (found an array)"}},
		{"server is no object", server(`"npx"`), []string{"1:62 " + s + ": " + named + " must be an object (found a string)"}},
		{"no command", server(`{}`), []string{"1:57 " + s + ": " + named + " must have a 'command' field, or a 'url' or a 'builtin'"}},
		{"empty command", server(`{"command": ""}`), []string{"1:74 " + s + ".command: " + named + ": 'command' must not be empty"}},
		{"command expands to nothing", server(`{"command": "${EMPTY}"}`), []string{"1:74 " + s + ".command: " + named + ": 'command' must not be empty"}},
		{"command and url", server(`{"command": "x", "url": "http://x"}`), []string{"1:79 " + s + ".url: " + named + ": 'command' and 'url' cannot be given together"}},
		{"builtin and command", server(`{"builtin": "files", "command": "x"}`), []string{"1:83 " + s + ".command: " + named + ": 'builtin' and 'command' cannot be given together"}},
		{"builtin and url", server(`{"url": "http://x", "builtin": "files"}`), []string{"1:82 " + s + ".builtin: " + named + ": 'url' and 'builtin' cannot be given together"}},
		{"args", server(`{"command": "x", "args": "y"}`), []string{"1:87 " + s + ".args: " + named + ": 'args' must be an array (found a string)"}},
		{"args element", server(`{"command": "x", "args": ["y", 5]}`), []string{"1:93 " + s + ".args[1]: " + named + ": 'args[1]' must be a string (found a number)"}},
		{"env", server(`{"command": "x", "env": []}`), []string{"1:86 " + s + ".env: " + named + ": 'env' must be an object (found an array)"}},
		{"env value", server(`{"command": "x", "env": {"A": 8080}}`), []string{"1:92 " + s + ".env.A: " + named + ": 'env.A' must be a string (found a number)"}},
		{"env name", server(`{"command": "x", "env": {"": "", "A=B": ""}}`), []string{
			`1:87 ` + s + `.env[""]: ` + named + ": variable name cannot be empty",
			`1:95 ` + s + `.env["A=B"]: ` + named + ": variable name cannot hold '='",
		}},
		{"header name", server(`{"url": "http://x", "headers": {"a b": "", "": "", "a!#$%&'*+-.^_|~` + "`" + `": ""}}`), []string{
			`1:94 ` + s + `.headers["a b"]: ` + named + ": header name can hold only letters, digits and - _ . and the like",
			`1:105 ` + s + `.headers[""]: ` + named + ": header name cannot be empty",
		}},
		{"header value", server(`{"url": "http://x", "headers": {"A": "b\r\nC: d"}}`), []string{"1:99 " + s + ".headers.A: " + named + ": 'headers.A' holds a line break or another control character"}},
		{"header twice", server(`{"url": "http://x", "headers": {"Auth": "x", "AUTH": "y"}}`), []string{"1:107 " + s + ".headers.AUTH: Duplicate key 'AUTH'"}},
		{"disabled", server(`{"command": "x", "disabled": "true"}`), []string{"1:91 " + s + ".disabled: " + named + ": 'disabled' must be true or false (found a string)"}},
		{"inheritEnv", server(`{"command": "x", "inheritEnv": "AWS_*"}`), []string{"1:93 " + s + ".inheritEnv: " + named + ": 'inheritEnv' must be true or false or an array (found a string)"}},
		{"empty filter", server(`{"command": "x", "toolFilters": [""]}`), []string{"1:95 " + s + ".toolFilters[0]: " + named + ": 'toolFilters[0]' must not be empty"}},
		{"empty cwd", server(`{"command": "x", "cwd": ""}`), []string{"1:86 " + s + ".cwd: " + named + ": 'cwd' must not be empty"}},
		{"transport", server(`{"command": "x", "transport": "stdoi"}`), []string{"1:92 " + s + ".transport: " + named + ": unknown transport 'stdoi'"}},
		{"type", server(`{"url": "http://x", "type": "websocket"}`), []string{"1:90 " + s + ".type: " + named + ": unknown type 'websocket'"}},
		{"transport and type", server(`{"url": "http://x", "type": "http", "transport": "sse"}`), []string{"1:90 " + s + ".type: " + named + ": 'transport' and 'type' differ"}},
		{"stdio with url", server(`{"url": "http://x", "transport": "stdio"}`), []string{"1:95 " + s + ".transport: " + named + ": 'transport' cannot be \"stdio\" for a server with a 'url'"}},
		{"http with command", server(`{"command": "x", "type": "http"}`), []string{"1:87 " + s + ".type: " + named + ": 'type' must be \"stdio\" for a server with a 'command'"}},
		{"sse with builtin", server(`{"builtin": "clock", "type": "sse"}`), []string{"1:91 " + s + ".type: " + named + ": 'type' does not apply to a server with a 'builtin'"}},
		{"builtin", server(`{"builtin": "file"}`), []string{"1:74 " + s + ".builtin: " + named + ": unknown builtin 'file'"}},
		{"url scheme", server(`{"url": "example.com/mcp"}`), []string{"1:70 " + s + ".url: " + named + ": 'url' must start with http:// or https://"}},
		{"url host", server(`{"url": "https:///mcp"}`), []string{"1:70 " + s + ".url: " + named + ": 'url' must name a host"}},
		{"url", server(`{"url": "https://hidden:pass%zz@x/"}`), []string{"1:70 " + s + ".url: " + named + ": 'url' is not a valid address"}},
		{"NUL", server(`{"command": "a\u0000b"}`), []string{"1:74 " + s + ".command: Text must not hold a NUL character"}},
		{"timeouts", `{"toolboxes": {}, "timeouts": {"connect": "0", "call": "-1s", "idle": "-1s"}}`, []string{
			`1:43 config.timeouts.connect: Configuration: 'timeouts.connect' must be a duration above zero, such as "30s", "5m" or "1h30m"`,
			`1:56 config.timeouts.call: Configuration: 'timeouts.call' must be a duration above zero, such as "30s", "5m" or "1h30m"`,
			`1:71 config.timeouts.idle: Configuration: 'timeouts.idle' must be a duration such as "30s", "5m" or "1h30m", or "0"`,
		}},
		{"timeout without unit", server(`{"command": "x", "timeouts": {"call": 30, "idle": "30"}}`), []string{
			"1:100 " + s + ".timeouts.call: " + named + ": 'timeouts.call' must be a string (found a number)",
			"1:112 " + s + ".timeouts.idle: " + named + `: 'timeouts.idle' must be a duration such as "30s", "5m" or "1h30m", or "0"`,
		}},
		{"toolMode", `{"toolboxes": {}, "toolMode": "Proxy"}`, []string{"1:31 config.toolMode: Configuration: unknown toolMode 'Proxy'"}},
		{"logLevel", `{"toolboxes": {}, "logLevel": 3}`, []string{"1:31 config.logLevel: Configuration: 'logLevel' must be a string (found a number)"}},
		{"maxMessageSize", `{"toolboxes": {}, "maxMessageSize": 1.5}`, []string{`1:37 config.maxMessageSize: Configuration: 'maxMessageSize' must be a number of bytes or a size such as "64MiB", from 1KiB to 1GiB`}},
		{"maxMessageSize unit", `{"toolboxes": {}, "maxMessageSize": "1TB"}`, []string{`1:37 config.maxMessageSize: Configuration: 'maxMessageSize' must be a number of bytes or a size such as "64MiB", from 1KiB to 1GiB`}},
		{"maxMessageSize too large", `{"toolboxes": {}, "maxMessageSize": 99999999999999999999}`, []string{`1:37 config.maxMessageSize: Configuration: 'maxMessageSize' must be a number of bytes or a size such as "64MiB", from 1KiB to 1GiB`}},
		{"empty names", `{"toolboxes": {" ": {"description": "d", "mcpServers": {"": {"command": "x"}}}}}`, []string{
			`1:16 config.toolboxes[" "]: Toolbox name cannot be empty`,
			`1:57 config.toolboxes[" "].mcpServers[""]: Toolbox ' ': server name cannot be empty`,
		}},
		{"duplicate toolbox", "{\"toolboxes\": {\n\"a\": {\"mcpServers\": {}},\n\"a\": {\"mcpServers\": {}}}}", []string{"3:1 config.toolboxes.a: Duplicate key 'a'"}},
		{"duplicate after expansion", server(`{"command": "x", "env": {"${NAME}": "1", "secretname": "2"}}`), []string{"1:103 " + s + ".env.secretname: Duplicate key 'secretname'"}},
		{"duplicate in an unknown key", `{"toolboxes": {}, "other": {"a": 1, "a": 2}}`, []string{"1:37 config.other.a: Duplicate key 'a'"}},
		{"dynamic names", `{"toolboxes": {"a__b": {"mcpServers": {"c__d": {"command": "x"}}}}, "toolMode": "dynamic"}`, []string{
			`1:16 config.toolboxes.a__b: Toolbox 'a__b': a name cannot hold '__' when toolMode is "dynamic"`,
			`1:40 config.toolboxes.a__b.mcpServers.c__d: Server 'c__d' in toolbox 'a__b': a name cannot hold '__' when toolMode is "dynamic"`,
		}},
		{"odd keys in paths", `{"toolboxes": {"a.b": {"mcpServers": {"c\nd": {}}}}}`, []string{
			`1:39 config.toolboxes["a.b"].mcpServers["c\nd"]: Server 'c\nd' in toolbox 'a.b' must have a 'command' field, or a 'url' or a 'builtin'`,
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := problems(t, test.file, "EMPTY=", "NAME=secretname")
			if diff := cmp.Diff(test.want, summary(e.Problems)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestHints(t *testing.T) {
	for file, want := range map[string]string{
		`{"mcpServers": {"a": {"command": "x"}}}`:                            `put the servers into a toolbox: {"toolboxes": {"main": {"description": "…", "mcpServers": {…}}}}`,
		`{"toolboxes": {}, "toolMode": "dinamic"}`:                           "did you mean 'dynamic'?",
		`{"toolboxes": {}, "toolMode": "quick"}`:                             "use one of proxy, dynamic, direct",
		`{"toolboxes": {}, "toolMode": 1}`:                                   "use one of proxy, dynamic, direct",
		server(`{"builtin": "note"}`):                                        "did you mean 'notes'?",
		server(`{"url": "http://x", "type": "streamableHttp"}`):              "did you mean 'streamable-http'?",
		server(`{"command": "x", "args": "-y"}`):                             `for example: "args": ["-y", "some-server"]`,
		server(`{"command": "x", "timeouts": {"connect": 30}}`):              `for example: "connect": "30s"`,
		server(`{"command": "x", "env": {"A": "1", "A": "2"}}`):              "the key is already used on line 1; rename or remove one of them",
		server(`{"command": "x", "env": {"PORT": true}}`):                    "put the value into double quotes",
		server(`{"command": "${UNSET_ONE}"}`):                                "export UNSET_ONE=value\nor put the line UNSET_ONE=value into " + options().Dir,
		server(`{"command": "x", "args": ["${UNCLOSED"]}`):                   "close it with }, or write $${ for a literal ${",
		server(`{"command": "x", "transport": "http"}`):                      "for a remote server, give a 'url' instead",
		`{"toolboxes": {}, "http": {"listen": 7420}}`:                        `for example: "listen": "127.0.0.1:7420"`,
		`{"toolboxes": {}, "http": {"tls": {"key": "k"}}}`:                   `for example: "cert": "cert.pem"`,
		`{"toolboxes": {}, "http": {"allowedOrigins": ["*"]}}`:               `for example: "allowedOrigins": ["https://app.example.com"]`,
		`{"toolMode": "dynamic", "toolboxes": {"a__b": {"mcpServers": {}}}}`: "tools are named toolbox__server__tool; use a single underscore",
	} {
		e := problems(t, file)
		if len(e.Problems) != 1 || !strings.HasPrefix(e.Problems[0].Hint, want) {
			t.Errorf("%s\ngot  %+v\nwant %s", file, e.Problems, want)
		}
	}
}

func TestExpansionErrors(t *testing.T) {
	file := `{"toolboxes": {"T": {"description": "d", "mcpServers": {"S": {
  "command": "x",
  "env": {"X": "${MISSING} and ${MISSING} and ${SET}", "${KEY}": "v"},
  "args": ["ok", "--token=${BROKEN"]
}}}}}`
	e := problems(t, file, "SET=1")
	want := []string{
		"3:16 config.toolboxes.T.mcpServers.S.env.X: Environment variable expansion failed\nVariable: MISSING\nLocation: config.toolboxes.T.mcpServers.S.env.X\nReason: Variable is not set",
		"3:56 config.toolboxes.T.mcpServers.S.env[\"${KEY}\"]: Environment variable expansion failed\nVariable: KEY\nLocation: config.toolboxes.T.mcpServers.S.env[\"${KEY}\"]\nReason: Variable is not set",
		"4:18 config.toolboxes.T.mcpServers.S.args[1]: Environment variable expansion failed\nVariable: BROKEN\nLocation: config.toolboxes.T.mcpServers.S.args[1]\nReason: Malformed syntax: unclosed brace",
	}
	if diff := cmp.Diff(want, summary(e.Problems)); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestErrorLayout(t *testing.T) {
	e := problems(t, `{"toolMode": "prox",
"toolboxes": {"T": {"mcpServers": {"S": {"comand": "x", "env": {"TOKEN": "${TOKEN}"}}}}}}`)
	want := `test.json:1:14: Configuration: unknown toolMode 'prox'
    at config.toolMode
    hint: did you mean 'proxy'?
test.json:2:36: Server 'S' in toolbox 'T' must have a 'command' field, or a 'url' or a 'builtin'
    at config.toolboxes.T.mcpServers.S
    hint: for example: "command": "npx"
test.json:2:74: Environment variable expansion failed
    Variable: TOKEN
    Location: config.toolboxes.T.mcpServers.S.env.TOKEN
    Reason: Variable is not set
    hint: export TOKEN=value
    or put the line TOKEN=value into DIR/workbench.env
test.json:2:15: warning: Toolbox 'T' has no description
    at config.toolboxes.T
    hint: a model decides by the description whether to open it
test.json:2:42: warning: Server 'S' in toolbox 'T': unknown key 'comand' is ignored
    at config.toolboxes.T.mcpServers.S.comand
    hint: did you mean 'command'?
3 problems in test.json`
	got := strings.NewReplacer(options().Dir, "DIR", `\`, "/").Replace(e.Error())
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Error (-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	const s = "config.toolboxes.T.mcpServers.S"
	for _, test := range []struct {
		name, file string
		want       []string
		hint       string
	}{
		{"no description", `{"toolboxes": {"T": {"mcpServers": {"S": {"command": "x"}}}}}`, []string{"1:16 config.toolboxes.T: Toolbox 'T' has no description"}, ""},
		{"blank description", `{"toolboxes": {"T": {"description": " ", "mcpServers": {"S": {"command": "x"}}}}}`, []string{"1:16 config.toolboxes.T: Toolbox 'T' has no description"}, ""},
		{"no servers", `{"toolboxes": {"T": {"description": "d", "mcpServers": {}}}}`, []string{"1:16 config.toolboxes.T: Toolbox 'T' has no servers"}, ""},
		{"unknown at the top", `{"toolboxes": {}, "toolbox": {}}`, []string{"1:19 config.toolbox: Configuration: unknown key 'toolbox' is ignored"}, "did you mean 'toolboxes'?"},
		{
			"unknown in a toolbox", `{"toolboxes": {"T": {"descripton": "x", "description": "d", "mcpServers": {"S": {"command": "x"}}}}}`,
			[]string{"1:22 config.toolboxes.T.descripton: Toolbox 'T': unknown key 'descripton' is ignored"},
			"did you mean 'description'?",
		},
		{"unknown in a server", server(`{"command": "x", "zzz": 1}`), []string{"1:79 " + s + ".zzz: Server 'S' in toolbox 'T': unknown key 'zzz' is ignored"}, "known keys are command, args, "},
		{"unknown in http", `{"toolboxes": {}, "http": {"allowedhosts": []}}`, []string{"1:28 config.http.allowedhosts: Configuration: unknown key 'http.allowedhosts' is ignored"}, "did you mean 'allowedHosts'?"},
		{"unknown timeout", server(`{"command": "x", "timeouts": {"cal": "1s"}}`), []string{"1:92 " + s + ".timeouts.cal: Server 'S' in toolbox 'T': unknown key 'timeouts.cal' is ignored"}, "did you mean 'call'?"},
		{"keys are case-sensitive", server(`{"command": "x", "Args": []}`), []string{"1:79 " + s + ".Args: Server 'S' in toolbox 'T': unknown key 'Args' is ignored"}, "did you mean 'args'?"},
		{"look-alike", server(`{"command": "x", "args": ["${lower}", "${VAR:hidden}"]}`), []string{
			"1:88 " + s + ".args[0]: ${lower} is not expanded and stays as it is",
			"1:100 " + s + ".args[1]: ${VAR… is not expanded and stays as it is",
		}, "variables are ${NAME} or ${NAME:-default}"},
		{"mistyped form", server(`{"command": "x", "env": {"A": "${File:s600}"}}`), []string{"1:92 " + s + ".env.A: ${File… is not expanded and stays as it is"}, "did you mean ${file:…}? secrets are ${keyring:NAME}, "},
		{"unknown form", server(`{"command": "x", "env": {"A": "${vault:x}"}}`), []string{"1:92 " + s + ".env.A: ${vault… is not expanded and stays as it is"}, "secrets are ${keyring:NAME}, "},
		{"form where none can be", server(`{"command": "x", "cwd": "${vault:x}"}`), []string{"1:86 " + s + ".cwd: ${vault… is not expanded and stays as it is"}, "variables are ${NAME}"},
		{"headers of a command", server(`{"command": "x", "headers": {}}`), []string{"1:79 " + s + ".headers: Server 'S' in toolbox 'T': 'headers' has no effect on a server with no 'url'"}, ""},
		{"args of a url", server(`{"url": "http://x", "args": []}`), []string{"1:82 " + s + ".args: Server 'S' in toolbox 'T': 'args' has no effect on a server with a 'url'"}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := parse(t, test.file)
			if diff := cmp.Diff(test.want, summary(cfg.Warnings)); diff != "" {
				t.Fatalf("warnings (-want +got):\n%s", diff)
			}
			if !strings.HasPrefix(cfg.Warnings[0].Hint, test.hint) {
				t.Errorf("hint %q, want %q", cfg.Warnings[0].Hint, test.hint)
			}
		})
	}
}

// Values of variables, env and headers never reach a message, however wrong the
// place is where they stand.
func TestProblemsShowNoValues(t *testing.T) {
	const secret = "hunter2hunter2"
	for _, file := range []string{
		`{"toolMode": "${SECRET}", "logLevel": "${SECRET}", "maxMessageSize": "${SECRET}", "${SECRET}": 1, "timeouts": {"call": "${SECRET}"}}`,
		`{"toolboxes": {"${SECRET}": {"mcpServers": {"${SECRET}": {"${SECRET}": 1}, "hunter2hunter": []}, "${SECRET}": 2}, "${SECRET}": 1}, "x": "${lower"}`,
		server(`{"url": "http://a:${SECRET}@[::1/", "transport": "${SECRET}", "headers": {"${SECRET} x": "${SECRET}\n"}}`),
		server(`{"command": "x", "env": {"A": "${SECRET}${" , "B": "` + secret + `${x", "C": "${lower:` + secret + `}"}}`),
		`{"a": "` + secret + `\q"}`,
		`{"a": "` + secret + "\n\"}",
		`{"a": ` + secret + `}`,
	} {
		if message := problems(t, file, "SECRET="+secret).Error(); strings.Contains(message, secret) {
			t.Errorf("a value is shown for %s:\n%s", file, message)
		}
	}
}

func TestTildeWithoutHome(t *testing.T) {
	_, err := Strict(Parse("test.json", []byte(server(`{"command": "~/x", "cwd": "~", "args": ["~/y"]}`)), ParseOptions{}))
	if err == nil || strings.Count(err.Error(), "the home folder is not known") != 2 {
		t.Errorf("error %v", err)
	}
}

func TestTildeOnlyInCommandAndCwd(t *testing.T) {
	s := parse(t, server(`{"command": "~user/x", "args": ["~/y"], "env": {"A": "~/z"}, "cwd": "~x"}`)).Toolboxes[0].Servers[0]
	if s.Command != "~user/x" || s.Args[0] != "~/y" || s.Env[0].Value != "~/z" || !strings.HasSuffix(s.Dir, "~x") {
		t.Errorf("unexpected expansion of ~: %+v", s)
	}
}
