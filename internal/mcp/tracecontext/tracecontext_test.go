package tracecontext

import (
	"net/http"
	"strings"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

const example = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"

func TestParseParent(t *testing.T) {
	for text, want := range map[string]struct{ ok, sampled bool }{
		example:                                        {true, true},
		strings.TrimSuffix(example, "1") + "0":         {true, false},
		strings.TrimSuffix(example, "1") + "3":         {true, true},
		"cc" + example[2:] + "-what the future brings": {true, true},
		example + "-more":                              {},
		"cc" + example[2:] + "more":                    {},
		"ff" + example[2:]:                             {},
		strings.ToUpper(example):                       {},
		strings.Replace(example, "0af7651916cd43dd8448eb211c80319c", strings.Repeat("0", 32), 1): {},
		strings.Replace(example, "b7ad6b7169203331", strings.Repeat("0", 16), 1):                 {},
		example[:54]:                          {},
		strings.ReplaceAll(example, "-", "_"): {},
		"":                                    {},
	} {
		got, ok := ParseParent(text)
		if ok != want.ok || got.Sampled != want.sampled {
			t.Errorf("%q is %+v, %t", text, got, ok)
		}
		if ok && text[:2] == "00" && got.String()[:53] != text[:53] {
			t.Errorf("%q is written as %s", text, got)
		}
	}
}

func TestCarriers(t *testing.T) {
	header := http.Header{}
	header.Set("traceparent", example)
	header.Add("tracestate", "a=1")
	header.Add("tracestate", "b=2")
	header.Set("baggage", "user=x")
	want := Carrier{example, "a=1,b=2", "user=x"}
	if got := FromHeader(header); got != want {
		t.Errorf("the headers say %+v", got)
	}
	if got := FromMeta(wire.Raw([]byte(`{"traceparent":"` + example + `","tracestate":"a=1,b=2","baggage":"user=x"}`))); got != want {
		t.Errorf("the _meta says %+v", got)
	}
	unusable := `{"traceparent":"` + example + `","tracestate":"a\r\nb: c","baggage":"` + strings.Repeat("x", maxBaggage+1) + `"}`
	if got := FromMeta(wire.Raw([]byte(unusable))); got != (Carrier{Parent: example}) {
		t.Errorf("unusable values are taken: %+v", got)
	}
	if got := FromMeta(wire.Raw([]byte(`{"tracestate":"a=1"}`))); got != (Carrier{}) {
		t.Errorf("a tracestate alone is taken: %+v", got)
	}
	written := make(http.Header)
	want.SetHeader(written)
	if got := FromHeader(written); got != want {
		t.Errorf("the headers were written as %v", written)
	}
}

func TestWrite(t *testing.T) {
	c := Carrier{Parent: example, State: "a=1"}
	ours := `"traceparent":"` + example + `","tracestate":"a=1"`
	for meta, want := range map[string]string{
		"":     `{` + ours + `}`,
		"null": `{` + ours + `}`,
		`{}`:   `{` + ours + `}`,
		`{"x": 1.0,"traceparent":"old","tracestate":"old","baggage":"kept"}`: `{"x": 1.0,"baggage":"kept",` + ours + `}`,
		`{ "progressToken" : 3 }`: `{ "progressToken" : 3,` + ours + `}`,
	} {
		if got := string(c.Write(wire.Raw([]byte(meta))).Bytes()); got != want {
			t.Errorf("%s becomes %s, want %s", meta, got, want)
		}
	}
	c.Baggage = "new"
	if got := string(c.Write(wire.Raw([]byte(`{"baggage":"old"}`))).Bytes()); got != `{`+ours+`,"baggage":"new"}` {
		t.Errorf("it becomes %s", got)
	}
}
