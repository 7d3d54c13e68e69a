package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"html"
	"os"
	"runtime"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/terminal/browser"
)

// openedFileTime is how long the file stays that leads a browser to the page: as long as its link works.
const openedFileTime = time.Minute

// opensFile reports whether a browser gets a file that leads to the page instead of the link. Other users can read the
// arguments of programs, but not the file. On Linux the page looks at whose the connection is, which also works with
// browsers that see no files of the runtime folder; on Windows others cannot read arguments.
var opensFile = runtime.GOOS != "linux" && runtime.GOOS != "windows"

// openPage opens the browser. That it cannot is no failure: there is the link.
func openPage(ctx context.Context, stderr *tty.Screen, link string) {
	opener, err := browser.Find(os.Getenv)
	if err == nil {
		err = openLink(ctx, opener, link)
	}
	if err != nil {
		tty.Remark(stderr, fmt.Sprintf("No browser was opened: %s. Open the link yourself", cmp.Or(tty.CleanLine(err.Error()), "it failed")))
	}
}

func openLink(ctx context.Context, opener *browser.Opener, link string) error {
	if !opensFile {
		return waitFor(ctx, opener.Open(link))
	}
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return err
	}
	path, err := writeRedirect(dir.Path(""), link)
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(path) }() // the link in it is dead by then
	needed := time.NewTimer(openedFileTime)
	defer needed.Stop()
	if err := waitFor(ctx, opener.OpenFile(path)); err != nil {
		return err
	}
	select { // what opens a browser may end before that has read the file
	case <-needed.C:
	case <-ctx.Done():
	}
	return nil
}

func waitFor(ctx context.Context, opened <-chan error) error {
	select {
	case err := <-opened:
		return err
	case <-ctx.Done():
		return nil
	}
}

// writeRedirect writes a file that leads a browser to a link, for this user alone. It needs no script.
func writeRedirect(folder, link string) (path string, err error) {
	file, err := os.CreateTemp(folder, "page-*.html") // of mode 0600
	if err != nil {
		return "", err
	}
	address := html.EscapeString(link)
	_, err = fmt.Fprintf(file, `<!doctype html><meta charset="utf-8"><meta name="referrer" content="no-referrer"><title>MCP Workbench</title>
<meta http-equiv="refresh" content="0;url=%s"><a href="%s">MCP Workbench</a>
`, address, address)
	if err = errors.Join(err, file.Close()); err != nil {
		return "", errors.Join(err, os.Remove(file.Name()))
	}
	return file.Name(), nil
}
