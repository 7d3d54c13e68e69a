package login

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/oauth"
	"github.com/mcp-workbench/mcp-workbench/test/oauthtest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// output is what a login prints. A person in front of it does something when a text appears.
type output struct {
	mu    sync.Mutex
	text  strings.Builder
	await *regexp.Regexp
	found chan string
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.text.Write(text)
	if o.await != nil {
		if seen := o.await.FindString(o.text.String()); seen != "" {
			o.await = nil
			o.found <- seen
		}
	}
	return len(text), nil
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func begin(t *testing.T, provider *oauthtest.Provider) (*oauth.Credentials, *output) {
	t.Helper()
	manager := oauth.New(oauth.Options{Store: credentials.Open(t.TempDir(), credentials.Options{})})
	t.Cleanup(manager.Close)
	out := &output{await: regexp.MustCompile(`http://\S+/authorize\?\S+`), found: make(chan string, 1)}
	return manager.For(oauth.Server{Toolbox: "dev", Name: "notes", URL: provider.URL()}), out
}

func TestPastedAddress(t *testing.T) {
	provider := oauthtest.Start(t, oauthtest.Options{})
	login, out := begin(t, provider)
	in, person := io.Pipe()
	var pasting sync.WaitGroup
	pasting.Go(func() {
		defer person.Close()
		address, err := oauthtest.Callback(<-out.found)
		if err != nil {
			t.Error(err)
		}
		_, _ = io.WriteString(person, "nonsense\n\n"+address+"&more="+strings.Repeat("x", 20_000)+"\n") // longer than a terminal takes
	})
	outcome, err := Run(t.Context(), login, Options{
		Server: "dev/notes", URL: provider.URL(), NoBrowser: true,
		Screen: tty.New(out, nil, func(string) string { return "" }), Input: tty.NewLines(in),
		Mask: func(text string) string { return strings.ReplaceAll(text, "registered", "[hidden]") },
	})
	pasting.Wait()
	_ = in.Close()
	if err != nil || outcome.Issuer != provider.Issuer() {
		t.Fatalf("%+v, %v\n%s", outcome, err, out)
	}
	shown := out.String()
	for _, want := range []string{"No browser is opened here (--no-browser)", "! this is not the address of an answer", "✓ client: [hidden] at ", "Signed in to dev/notes"} {
		if !strings.Contains(shown, want) {
			t.Errorf("there is no %q in:\n%s", want, shown)
		}
	}
	if strings.Count(shown, "! ") != 1 {
		t.Errorf("an empty line is not wrong:\n%s", shown)
	}
}

func TestInterruptedLogin(t *testing.T) {
	provider := oauthtest.Start(t, oauthtest.Options{})
	login, out := begin(t, provider)
	ctx, cancel := context.WithCancel(t.Context())
	var person sync.WaitGroup
	person.Go(func() {
		<-out.found
		cancel()
	})
	in, typed := io.Pipe()
	_, err := Run(ctx, login, Options{Server: "dev/notes", NoBrowser: true, Screen: tty.New(out, nil, func(string) string { return "" }), Input: tty.NewLines(in)})
	person.Wait()
	_, _ = typed.Close(), in.Close()
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

func TestErrors(t *testing.T) {
	for _, test := range []struct {
		name    string
		options oauthtest.Options
		code    toolbox.Code
		want    string
	}{
		{"nothing offered", oauthtest.Options{
			ResourceOptions: oauthtest.ResourceOptions{ResourceMetadataAt: "nowhere", Challenge: "none"},
			MetadataOptions: oauthtest.MetadataOptions{MetadataAt: "nowhere"},
		}, toolbox.LoginFailed, "does not say how to log in"},
		{"no registration", oauthtest.Options{ClientOptions: oauthtest.ClientOptions{NoRegistration: true}}, toolbox.LoginImpossible, "oauth.clientId"},
	} {
		t.Run(test.name, func(t *testing.T) {
			login, out := begin(t, oauthtest.Start(t, test.options))
			_, err := Run(t.Context(), login, Options{Server: "dev/notes", NoBrowser: true, Screen: tty.New(out, nil, func(string) string { return "" })})
			known, ok := errors.AsType[*toolbox.Error](err)
			if !ok || known.Code != test.code || !strings.Contains(err.Error(), "The login to 'dev/notes' failed: ") || !strings.Contains(err.Error(), test.want) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// A store that cannot be written is not a fault of the login, and has its own advice.
func TestNoFolder(t *testing.T) {
	provider := oauthtest.Start(t, oauthtest.Options{})
	manager := oauth.New(oauth.Options{Store: credentials.Open("", credentials.Options{})})
	defer manager.Close()
	_, err := Run(t.Context(), manager.For(oauth.Server{URL: provider.URL()}), Options{NoBrowser: true, Screen: tty.New(io.Discard, nil, func(string) string { return "" })})
	if known, ok := errors.AsType[*toolbox.Error](err); !ok || known.Code != toolbox.NoStateFolder {
		t.Errorf("the error is %v", err)
	}
}
