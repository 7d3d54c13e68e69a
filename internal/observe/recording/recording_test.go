package recording

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/base/secret"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/wire"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

type nopWriteCloser struct{ io.Writer }

func (nopWriteCloser) Close() error { return nil }

// record makes a recording of what each side says in turn; a line begins with > for the
// client and < for the server, and may say how many seconds pass before it.
func record(t *testing.T, secrets []string, session string) string {
	t.Helper()
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		recorder, err := NewRecorder(&file, Header{By: "test", Server: "s"}, secret.NewMasker(secrets).Mask)
		if err != nil {
			t.Fatal(err)
		}
		fromClient, toRecorder := io.Pipe()
		in := recorder.Reader(fromClient)
		out := recorder.Writer(nopWriteCloser{io.Discard})
		var read drained
		read.drain(in)
		for line := range strings.Lines(session) {
			side, message, _ := strings.Cut(strings.TrimSpace(line), " ")
			if pause, err := time.ParseDuration(strings.TrimLeft(side, "<>")); err == nil {
				<-time.After(pause)
			}
			// In parts, as streams come.
			half := len(message) / 2
			for _, part := range []string{message[:half], message[half:] + "\n"} {
				if side[0] == '>' {
					_, err = io.WriteString(toRecorder, part)
				} else {
					_, err = io.WriteString(out, part)
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			synctest.Wait()
		}
		toRecorder.Close()
		<-read.done
		if _, err := recorder.Messages(); err != nil {
			t.Error(err)
		}
	})
	return file.String()
}

// drained is the reading of a stream to its end.
type drained struct{ done chan struct{} }

func (s *drained) drain(in io.Reader) {
	s.done = make(chan struct{})
	go func() {
		defer close(s.done)
		_, _ = io.Copy(io.Discard, in)
	}()
}

func TestSecretsAreHidden(t *testing.T) {
	for _, test := range []struct{ message, want string }{
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"text":"it is hunter2-hunter2 ok"}}`, `"text":"it is [hidden] ok"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"api_key":"abc","user":"Ada"}}`, `{"api_key":"[hidden]","user":"Ada"}`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"clientSecret":["a","b"],"n":1.50}}`, `{"clientSecret":["[hidden]","[hidden]"],"n":1.50}`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"h":"Bearer abcdefgh123"}}`, `"h":"[hidden]"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"see ghp_0123456789abcdefABCDEF <b>"}}`, `"t":"see [hidden] <b>"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"hunter2\u002dhunter2"}}`, `"t":"[hidden]"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"_meta":{"progressToken":7},"maxTokens":100}}`, `{"_meta":{"progressToken":7},"maxTokens":100}`},
		{`{"jsonrpc":"2.0","id":1,"result":{"inputSchema":{"properties":{"password":{"type":"string"}}}}}`, `{"properties":{"password":{"type":"string"}}}`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"{\"password\":\"pa\\\"ss\",\"n\":1}"}}`, `"t":"{\"password\":\"[hidden]\",\"n\":1}"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"sent {\"api_key\" : \"ends with \\\\\", \"user\":\"Ada\"} to it"}}`, `"t":"sent {\"api_key\" : \"[hidden]\", \"user\":\"Ada\"} to it"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"{\"body\":\"{\\\"secret\\\":\\\"x\\\"}\"}"}}`, `"t":"{\"body\":\"{\\\"secret\\\":\\\"[hidden]\\\"}\"}"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"a \"word\" and \"password\" and password: 12"}}`, `"t":"a \"word\" and \"password\" and password: 12"`},
		{`{"jsonrpc":"2.0","id":1,"method":"x","params":{"t":"{\"user\":\"password\",\"token\":\""}}`, `"t":"{\"user\":\"password\",\"token\":\""`},
		{`started with hunter2-hunter2`, `"text":"started with [hidden]"`},
	} {
		got := record(t, []string{"hunter2-hunter2"}, "< "+test.message)
		if !strings.Contains(got, test.want) || strings.Contains(got, "hunter2") {
			t.Errorf("%s\nbecomes %s\nwant %s", test.message, got, test.want)
		}
	}
}

func TestReadSaysWhatIsWrong(t *testing.T) {
	const header = `{"recording":1,"by":"x","at":"2026-01-01T00:00:00Z","server":"s"}` + "\n"
	for text, want := range map[string]string{
		"":                              "it is empty",
		"hello\n":                       "line 1:",
		`{"recording":9}` + "\n":        "written by a newer mcp-workbench (format 9, this one knows 1)",
		header + "{]\n":                 "line 2:",
		header + `{"from":"me"}`:        "",
		header + `{"from":"me"}` + "\n": `line 2: "from" is "me"`,
		header + `{"at":1,"from":"client","message":{"id":1}}` + "\n": "line 2:",
	} {
		_, err := Read(strings.NewReader(text))
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTooLongToKeep(t *testing.T) {
	var file bytes.Buffer
	recorder, err := NewRecorder(&file, Header{}, secret.NewMasker(nil).Mask)
	if err != nil {
		t.Fatal(err)
	}
	out := recorder.Writer(nopWriteCloser{io.Discard})
	part := bytes.Repeat([]byte("x"), maxLine/2+1)
	for _, p := range [][]byte{part, part, []byte("x\n"), []byte(`{"jsonrpc":"2.0","id":1,"result":{}}` + "\n")} {
		if _, err := out.Write(p); err != nil {
			t.Fatal(err)
		}
	}
	if got := file.String(); !strings.Contains(got, `"skipped":67108867`) || !strings.Contains(got, `"result":{}`) {
		t.Errorf("got %.300s", got)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(`{"recording":1}` + "\n" + `{"at":1,"from":"client","message":{"jsonrpc":"2.0","id":1,"method":"ping"}}` + "\n")
	f.Fuzz(func(_ *testing.T, text string) {
		if r, err := Read(strings.NewReader(text)); err == nil {
			NewPlayer(r)
		}
	})
}

func FuzzMask(f *testing.F) {
	f.Add(`{"a":["hunter2-hunter2",{"password":"x"}]}`)
	f.Fuzz(func(t *testing.T, text string) {
		value, err := wire.ParseValue([]byte(text))
		if err != nil {
			return
		}
		masked := mask{secret.NewMasker([]string{"hunter2-hunter2"}).Mask}.message(value)
		if _, err := wire.ParseValue(masked); err != nil {
			t.Errorf("%s becomes %s: %v", text, masked, err)
		}
	})
}
