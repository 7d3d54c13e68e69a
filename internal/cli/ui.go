package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"os"
	"slices"
	"strconv"
	"sync"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/control"
	"github.com/mcp-workbench/mcp-workbench/internal/sharing/runtimedir"
	"github.com/mcp-workbench/mcp-workbench/internal/web/page"
)

type uiFlags struct {
	which        workbenchFlag
	port         int
	noOpen, json bool
	assets       string
}

func newUI() *cobra.Command {
	var flags uiFlags
	cmd := &cobra.Command{
		Use:   "ui",
		Short: "Open a page about the running workbenches",
		Long: `Serve a page on this machine, and open it in the browser: servers, calls, tools, questions
and changed definitions of all your running workbenches, as they are now. It ends with
Ctrl-C. Nobody else can open the page: its link works once, and for a minute. Press Enter
for another link.

The link is written to stdout, alone on its line; all else goes to stderr.`,
		Example: `  mcp-workbench ui
  mcp-workbench ui --no-open --port 7421
  mcp-workbench ui --pid 4711             of one workbench only`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return runUI(cmd, &flags) },
	}
	flags.which.defineForAll(cmd)
	cmd.Flags().IntVar(&flags.port, "port", 0, "port of the page on 127.0.0.1 (default: a free one)")
	cmd.Flags().BoolVar(&flags.noOpen, "no-open", false, "open no browser; print the link only")
	cmd.Flags().StringVar(&flags.assets, "assets", "", "folder with the files of the page, to change them (default: the built-in ones)")
	addJSONFormFlag(cmd, &flags.json, jsonLines, "write each link as a JSON object on a line")
	return cmd
}

func runUI(cmd *cobra.Command, flags *uiFlags) error {
	if flags.port < 0 || flags.port > 65535 {
		return &usageError{err: fmt.Errorf("--port needs a number from 0 to 65535, not %d", flags.port)}
	}
	if flags.which.pid != 0 {
		if _, err := flags.which.findQuietly(cmd.Context()); err != nil {
			return err
		}
	}
	files, err := pageFiles(flags.assets)
	if err != nil {
		return err
	}
	shown, err := page.New(page.Options{Version: Version, Mode: page.ModeUI, Find: flags.which.workbenches, Sessions: true, FromFile: opensFile, Assets: files})
	if err != nil {
		return assetsError(flags.assets, err)
	}
	listener, err := listenForPage(flags.port)
	if err != nil {
		return err
	}
	base := "http://" + listener.Addr().String()
	ctx, stop := context.WithCancel(cmd.Context())
	defer stop()
	var offering sync.WaitGroup
	defer offering.Wait()
	defer stop()
	offering.Go(func() {
		links{
			screen: tty.New(cmd.ErrOrStderr(), cmd.InOrStdin(), os.Getenv), input: cmd.InOrStdin(), opens: !flags.noOpen,
			next:  func() string { return shown.Link(base) },
			first: func() string { return shown.LinkToPass(base) },
			print: func(link string) error { return flags.print(cmd, link) },
		}.offer(ctx, &offering)
	})
	return shown.Serve(ctx, listener)
}

// workbenches returns those that the page shows, of which there may be none.
func (r *workbenchFlag) workbenches(ctx context.Context) ([]*control.Client, error) {
	dir, err := runtimedir.Open(os.Getenv, config.StateDir())
	if err != nil {
		return nil, err
	}
	found, err := control.Find(ctx, dir)
	if r.pid != 0 {
		found = slices.DeleteFunc(found, func(c *control.Client) bool { return c.Status.PID != r.pid })
	}
	return found, err
}

// pageFiles opens the folder of --assets. Nothing outside of it can be read.
func pageFiles(folder string) (fs.FS, error) {
	if folder == "" {
		return nil, nil
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, assetsError(folder, err)
	}
	return root.FS(), nil
}

func assetsError(folder string, err error) error {
	return &usageError{err: fmt.Errorf("--assets needs a folder with the files of the page; '%s' cannot be used: %w", tty.CleanLine(folder), err)}
}

// listenForPage listens on this machine only.
func listenForPage(port int) (net.Listener, error) {
	address := net.JoinHostPort("127.0.0.1", strconv.Itoa(port))
	listener, err := net.Listen("tcp", address)
	if err == nil {
		return listener, nil
	}
	reason := err.Error()
	if errors.Is(err, syscall.EADDRINUSE) {
		reason = "another program does, perhaps another 'mcp-workbench ui'"
	}
	return nil, &toolbox.Error{
		Code: toolbox.CannotListen, Message: fmt.Sprintf("cannot listen on %s: %s", address, reason), Cause: err,
		Hint: "Leave --port out for a free one.",
	}
}

// links are those of a page, which a person opens.
type links struct {
	screen *tty.Screen   // of the person
	input  io.Reader     // where they ask for another one
	opens  bool          // the first one in a browser
	first  func() string // that one
	next   func() string
	print  func(link string) error
}

// offer prints a link now and for each line that the person enters. What goes on aside is added to a group.
func (l links) offer(ctx context.Context, aside *sync.WaitGroup) {
	input, first := inputOf(l.screen, l.input), ""
	if l.opens {
		first = l.first()
	} else {
		first = l.next()
	}
	if l.print(first) != nil {
		return
	}
	l.screen.Instruct("The link opens the page once, within a minute. Press Enter for another one, and Ctrl-C to end.\n")
	if l.opens {
		aside.Go(func() { openPage(ctx, l.screen, first) }) // some browsers run until they are closed
	}
	for {
		if _, err := input.Read(ctx); err != nil || l.print(l.next()) != nil {
			return // nobody asks for another link, or sees it
		}
	}
}

func (f *uiFlags) print(cmd *cobra.Command, link string) error {
	if f.json {
		return writeJSONLine(cmd.OutOrStdout(), offeredLink{link})
	}
	_, err := fmt.Fprintln(cmd.OutOrStdout(), link)
	return err
}

// offeredLink is the JSON of 'ui'.
type offeredLink struct {
	Link string `json:"link"`
}
