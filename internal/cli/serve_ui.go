package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/web/page"
)

// servedPage is the page of a workbench that serves over HTTP. It shows that workbench alone, and needs no socket.
type servedPage struct {
	subject    control.Subject
	log        *slog.Logger
	base       string // scheme, host and port
	needsToken bool
	stderr     io.Writer
}

// with serves with the page, and ends it.
func (s servedPage) with(ctx context.Context, serve func(context.Context, *app.Page) error) (err error) {
	aside, stop := context.WithCancel(ctx)
	client, ended := control.NewLocal(aside, s.subject)
	var offering sync.WaitGroup
	defer func() {
		stop()
		offering.Wait()
		err = errors.Join(err, ended())
	}()
	shown, err := page.New(page.Options{
		Version: Version, Mode: page.ModeServe, Sessions: !s.needsToken, Log: s.log,
		Find: func(context.Context) ([]*control.Client, error) { return []*control.Client{client}, nil },
	})
	if err != nil {
		return err
	}
	if s.needsToken {
		fmt.Fprintf(s.stderr, "mcp-workbench: the page is at %s%s, for a token made with: mcp-workbench token add NAME --for page\n", s.base, page.Path)
	} else {
		offering.Go(func() {
			links{
				screen: tty.New(s.stderr, os.Stdin, os.Getenv), input: os.Stdin,
				next:  func() string { return shown.Link(s.base) },
				print: s.print,
			}.offer(aside, &offering)
		})
	}
	return serve(ctx, &app.Page{Handler: shown, IsPublic: page.IsPublic, Guard: page.Guard})
}

func (s servedPage) print(link string) error {
	_, err := fmt.Fprintf(s.stderr, "mcp-workbench: the page is at %s\n", link)
	return err
}
