package recording

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

const hostile = `{"recording":1,"by":"x","at":"2026-01-01T00:00:00Z","server":"</script><script>alert(1)</script>"}
{"at":1,"from":"server","message":{"jsonrpc":"2.0","method":"</SCRIPT ><img src=x onerror=alert(1)>","params":{"a":"<!--<script>","b":"\u003c/script\u003e"}}}
{"at":2,"from":"server","text":"]]></style>-->&lt;/script&gt; \u2028"}
{"at":3,"from":"ser`

// shownIn returns the lines that are embedded in an HTML file, after checking that it has no other elements than ours.
func shownIn(t *testing.T, text string) string {
	t.Helper()
	z := html.NewTokenizer(strings.NewReader(text))
	var elements []string
	data, inData := "", false
	for {
		switch z.Next() {
		case html.ErrorToken:
			if got := strings.Join(elements, " "); got != "html head meta meta meta meta title style body main noscript script script" {
				t.Fatalf("the elements are %s", got)
			}
			return data
		case html.StartTagToken, html.SelfClosingTagToken:
			name, _ := z.TagName()
			elements = append(elements, string(name))
			inData = string(name) == "script" && data == ""
		case html.CommentToken:
			t.Fatal("there is a comment")
		case html.TextToken:
			if inData {
				data += string(z.Text())
			}
		case html.EndTagToken:
			inData = false
		default:
		}
	}
}

func TestAnHTMLFileOnlyShows(t *testing.T) {
	var out bytes.Buffer
	if err := WriteHTML(&out, strings.NewReader(hostile)); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(shownIn(t, out.String())), "\n")
	if len(lines) != 3 {
		t.Fatalf("%q", lines)
	}
	var header Header
	if err := json.Unmarshal([]byte(lines[0]), &header); err != nil || header.Server != "</script><script>alert(1)</script>" {
		t.Errorf("%+v, %v", header, err)
	}
	page := out.String()
	for _, element := range []string{"style", "script type=\"module\""} {
		name, _, _ := strings.Cut(element, " ")
		_, rest, _ := strings.Cut(page, "<"+element+">")
		inside, _, _ := strings.Cut(rest, "</"+name+">")
		if !strings.Contains(page, name+"-src '"+digest(inside)+"'") {
			t.Errorf("the policy does not allow our %s", name)
		}
	}
	var empty bytes.Buffer
	if err := WriteHTML(&empty, strings.NewReader("")); err != nil {
		t.Fatal(err)
	}
	if found := regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|\bfetch\b|https?://`).FindAllString(strings.ReplaceAll(empty.String(), "http://www.w3.org/2000/svg", ""), -1); len(found) > 0 {
		t.Errorf("it may load something: %q", found)
	}
}

// TestTheViewOnlyMakesText keeps what could run or parse recorded text out of the view.
func TestTheViewOnlyMakesText(t *testing.T) {
	script := viewFile("recording-view.js") + viewFile("alone.js")
	for _, forbidden := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "DOMParser", "eval(", "Function(", "import ", "import(", "</script", "<!--", "srcdoc", ".style."} {
		if strings.Contains(script, forbidden) {
			t.Errorf("the view uses %q", forbidden)
		}
	}
}

func FuzzHTML(f *testing.F) {
	f.Add(hostile)
	f.Add("\"</script>\"\n[\"<!--\"]\n{\"\xff</script>\":1}")
	f.Fuzz(func(t *testing.T, text string) {
		var out bytes.Buffer
		if err := WriteHTML(&out, strings.NewReader(text)); err != nil {
			return
		}
		if data := shownIn(t, out.String()); strings.ContainsAny(data, "<>&") {
			t.Errorf("%q is in it", data)
		}
	})
}
