package config

import (
	"strings"
	"testing"
)

func TestPolicyCases(t *testing.T) {
	cases, err := parsePolicyCases("cases.json", []byte(`{
  // production
  "cases": [
    {"caller": "token:ci", "tool": "prod/db/query", "arguments": {"sql": "${X}", "n": [1.50, null, {"a": true}]}, "verdict": "deny"},
    {"tool": "é/b/c", "verdict": "ask", "history": [{"tool": "d/e/f"},],},
  ],
}`))
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) != 2 {
		t.Fatalf("%d cases", len(cases))
	}
	first, second := cases[0], cases[1]
	if first.Caller != "token:ci" || first.Tool.Name != "prod/db/query" || first.Verdict != Deny || first.History != nil {
		t.Errorf("first: %+v", first)
	}
	if got, want := string(first.Arguments.Bytes()), `{"sql":"${X}","n":[1.50,null,{"a":true}]}`; got != want {
		t.Errorf("arguments %s, want %s", got, want)
	}
	if second.Caller != CallerStdio || second.Verdict != Ask || string(second.Arguments.Bytes()) != "{}" {
		t.Errorf("second: %+v", second)
	}
	history := second.History[0]
	if history.Name != "d/e/f" || history.At.Line != 5 || history.At.Column != 62 || history.At.Path != "file.cases[1].history[0].tool" {
		t.Errorf("history: %+v", history)
	}
}

func TestMistakesInPolicyCases(t *testing.T) {
	for file, want := range map[string]string{
		``:                           "cases.json:1:1: Invalid JSON: the file is empty",
		`{"cases": [`:                "the '[' on line 1 is not closed",
		`[]`:                         "cases.json:1:1: The file must have a 'cases' list (found an array)",
		`{}`:                         "cases.json:1:1: The file must have a 'cases' list",
		`{"cases": {}}`:              "cases.json:1:11: The file must have a 'cases' list (found an object)",
		`{"cases": [], "extra": 1}`:  "cases.json:1:15: The file: unknown key 'extra'",
		`{"cases": [7]}`:             "cases.json:1:12: Case 1 must be an object (found a number)",
		`{"cases": [{}]}`:            "Case 1 must have a 'tool' field",
		`{"cases": [{"tool": "a"}]}`: "Case 1 must have a 'verdict' field",
		`{"cases": [{"tool": "", "verdict": "ask"}]}`:                                 "cases.json:1:21: Case 1: 'tool' must not be empty",
		`{"cases": [{"tool": "a", "verdict": "alow"}]}`:                               "cases.json:1:37: Case 1: unknown verdict 'alow'",
		`{"cases": [{"tool": "a", "verdict": "ask", "caller": "me"}]}`:                `Case 1: 'caller' must be "stdio", "shared", "terminal", "http", "token:NAME"`,
		`{"cases": [{"tool": "a", "verdict": "ask", "arguments": []}]}`:               "cases.json:1:57: Case 1: 'arguments' must be an object (found an array)",
		`{"cases": [{"tool": "a", "verdict": "ask", "history": [{"tol": "a"}]}]}`:     "Call 1: unknown key 'tol'",
		`{"cases": [{"tool": "a", "verdict": "ask", "arguments": {"a": 1, "a": 2}}]}`: "cases.json:1:66: Duplicate key 'a'",
	} {
		_, err := parsePolicyCases("cases.json", []byte(file))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s:\n%v\nwant: %s", file, err, want)
		}
	}
}
