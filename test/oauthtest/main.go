package oauthtest

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// Main is a program that runs a provider until SIGTERM or an interrupt: FILE [OPTIONS.json [LOG]]. It writes the
// address of the MCP server and of the authorization server into the file, one on each line, and events to the log.
// The returned code is its exit code.
func Main(args []string) int {
	if err := run(args); err != nil {
		fmt.Fprintln(os.Stderr, "fakeprovider:", err)
		return 1
	}
	return 0
}

func run(args []string) error {
	if len(args) < 1 {
		return fmt.Errorf("usage: fakeprovider FILE [OPTIONS.json [LOG]]")
	}
	options := Options{}
	if len(args) > 1 {
		text, err := os.ReadFile(args[1])
		if err != nil {
			return err
		}
		if options, err = Parse(text); err != nil {
			return fmt.Errorf("%s: %w", args[1], err)
		}
	}
	if len(args) > 2 {
		log, err := os.OpenFile(args[2], os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return err
		}
		defer log.Close()
		options.Log = log
	}
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, os.Interrupt, syscall.SIGTERM)
	p, err := New(options)
	if err != nil {
		return err
	}
	defer p.Close()
	// Whole: who waits for the file can read it.
	if err := os.WriteFile(args[0]+".new", fmt.Appendf(nil, "%s\n%s\n", p.URL(), p.Issuer()), 0o600); err != nil {
		return err
	}
	if err := os.Rename(args[0]+".new", args[0]); err != nil {
		return err
	}
	<-stop
	return nil
}
