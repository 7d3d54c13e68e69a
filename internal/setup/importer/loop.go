package importer

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// loopFinder recognises servers that lead back to workbenches of this user.
type loopFinder struct {
	files []string // the configuration files of these workbenches
	mark  string   // the hop mark by which each recognises itself
}

// newLoopFinder makes a finder for workbenches with these configuration files.
func newLoopFinder(files ...string) *loopFinder {
	f := &loopFinder{}
	self := hops.New(func() []byte { return hops.Key(config.StateDir()) })
	for _, file := range files {
		if file = hops.RealPath(file); len(f.files) < hops.Max && !slices.Contains(f.files, file) {
			f.files = append(f.files, file)
			f.mark = self.Extend(f.mark, file, "", "")
		}
	}
	return f
}

// find returns why a server is one of the workbenches; "" if it is not.
func (f *loopFinder) find(ctx context.Context, server clients.Server) string {
	words := append([]string{server.Command}, server.Args...)
	if server.Command == "" {
		words = nil
	}
	if args, ok := clients.WorkbenchArgs(words); ok {
		if command, _ := clients.SplitCommand(args); command != "bridge" {
			for _, file := range configsOf(args, server) {
				if slices.Contains(f.files, hops.RealPath(file)) {
					return "it starts the workbench with " + file
				}
			}
			return ""
		}
	}
	for _, address := range append(words, server.URL) { // also in arguments, such as those of mcp-remote
		if IsAddress(address) && isHere(address) && hops.Probe(ctx, address, nil, f.mark) != nil {
			return "the workbench answers at " + withoutQuery(address)
		}
	}
	return ""
}

// configsOf returns the configuration files that a workbench started with these arguments may use.
func configsOf(args []string, server clients.Server) []string {
	for i, arg := range args {
		if file, ok := strings.CutPrefix(arg, "--config="); ok {
			return []string{resolveIn(server.Dir, file)}
		}
		if arg == "--config" && i+1 < len(args) {
			return []string{resolveIn(server.Dir, args[i+1])}
		}
	}
	places, err := config.Candidates("", func(name string) string {
		for _, variable := range server.Env {
			if variable.Name == name {
				return variable.Value
			}
		}
		return os.Getenv(name)
	})
	if err != nil {
		return nil
	}
	files := make([]string, len(places))
	for i, place := range places {
		files[i] = place.Path
	}
	return files
}

func resolveIn(folder, file string) string {
	if filepath.IsAbs(file) || folder == "" {
		return file
	}
	return filepath.Join(folder, file)
}

// isHere reports whether an address belongs to this machine, without a name lookup.
func isHere(address string) bool {
	parsed, err := url.Parse(address)
	if err != nil {
		return false
	}
	host := strings.ToLower(parsed.Hostname())
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	if own, err := os.Hostname(); err == nil && own != "" {
		ownName, _, _ := strings.Cut(strings.ToLower(own), ".")
		if name, _, _ := strings.Cut(host, "."); name == ownName {
			return true
		}
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	if ip = ip.Unmap(); ip.IsLoopback() || ip.IsUnspecified() {
		return true
	}
	addresses, err := net.InterfaceAddrs()
	return err == nil && slices.ContainsFunc(addresses, func(a net.Addr) bool {
		prefix, err := netip.ParsePrefix(a.String())
		return err == nil && prefix.Addr().Unmap() == ip
	})
}

// withoutQuery returns an address without the parts that may be secret.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "this address"
	}
	return parsed.Scheme + "://" + parsed.Host + parsed.EscapedPath()
}

// RefuseLoops refuses servers that would lead the workbench with this configuration back to itself.
// Any other workbench may be added.
func RefuseLoops(ctx context.Context, file string, servers []clients.Server) error {
	finder := newLoopFinder(file)
	for _, server := range servers {
		if why := finder.find(ctx, server); why != "" {
			return &toolbox.Error{
				Code:    toolbox.LeadsBack,
				Message: fmt.Sprintf("'%s' would lead this workbench back to itself: %s", tty.CleanLine(server.Name), tty.CleanLine(why)),
				Hint:    "Add the servers that it has directly. A workbench with another configuration can be added.",
			}
		}
	}
	return nil
}

// RemoveLoops removes workbenches with these configuration files from the sources, and enters them as
// the workbench itself.
func RemoveLoops(ctx context.Context, sources []clients.Source, files []string) {
	finder := newLoopFinder(files...)
	var asking sync.WaitGroup
	for i := range sources {
		source := &sources[i]
		loops := make([]bool, len(source.Servers))
		for n, server := range source.Servers {
			asking.Go(func() { loops[n] = finder.find(ctx, server) != "" })
		}
		asking.Wait()
		n := -1
		source.Servers = slices.DeleteFunc(source.Servers, func(server clients.Server) bool {
			if n++; loops[n] {
				source.Self = append(source.Self, server.Name)
			}
			return loops[n]
		})
	}
}
