package recording

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

// View has the files that show a recording in a browser: recording-view.js and recording-view.css, which the page serves as
// well, and what a file that stands alone needs besides.
//
//go:embed view
var View embed.FS

// WriteHTML writes a recording as one HTML file that shows it, and loads nothing. What was recorded is text in it: it cannot
// end the element that it is in, and nothing in it is run. A line that is not JSON, as after a crash, is left out.
func WriteHTML(dst io.Writer, src io.Reader) error {
	script, style := viewFile("recording-view.js")+viewFile("alone.js"), viewFile("alone.css")+viewFile("recording-view.css")
	out := bufio.NewWriter(dst)
	fmt.Fprintf(out, `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src '%s'; script-src '%s'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'">
<meta name="viewport" content="width=device-width">
<meta name="referrer" content="no-referrer">
<title>Recording of MCP messages</title>
<style>%s</style>
</head>
<body>
<main id="recording"><noscript>This recording is shown with JavaScript.</noscript></main>
<script type="application/x-ndjson" id="messages">
`, digest(style), digest(script), style)
	if err := embedLines(out, src); err != nil {
		return err
	}
	fmt.Fprintf(out, "</script>\n<script type=\"module\">%s</script>\n</body>\n</html>\n", script)
	return out.Flush()
}

// embedLines writes the lines of a recording, as JSON that means the same, without what could be read as HTML.
func embedLines(out *bufio.Writer, src io.Reader) error {
	reader := wire.NewReader(src, maxLine)
	var text bytes.Buffer
	for {
		frame, err := reader.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if _, tooLong := errors.AsType[*wire.TooLongError](err); tooLong {
			continue
		}
		if err != nil {
			return err
		}
		if !json.Valid(frame.Bytes()) {
			continue
		}
		text.Reset()
		json.HTMLEscape(&text, bytes.ToValidUTF8(frame.Bytes(), []byte("\uFFFD")))
		text.WriteByte('\n')
		if _, err := out.Write(text.Bytes()); err != nil {
			return err
		}
	}
}

func viewFile(name string) string {
	content, err := View.ReadFile("view/" + name)
	if err != nil {
		panic(err) // it is part of the program
	}
	return string(content)
}

func digest(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}
