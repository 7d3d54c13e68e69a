package loader

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Loaded is the usable part of a configuration, and the problems of the rest.
type Loaded struct {
	Config    *config.Config
	Places    []config.Place // of the files to use, in the order of their toolboxes
	Untrusted *Untrusted     // not nil: the project's file is not used
	Broken    []error        // why files cannot be used, one error per file

	// A file in use that has become untrusted or broken stays in use as read before. Kept is the reason; Doubted is set
	// if it is no longer trusted.
	Kept    []error
	Doubted *Untrusted // also set where Untrusted is

	sources []*config.Source // of the files in use
}

// read returns the configuration of one file, below that of the user if the file is a project's. If the file is not
// used, the result contains only its restrictions on a project's toolboxes.
func (s *Loaded) read(l *Loader, place config.Place, user *config.Config, before *Loaded) (cfg *config.Config, isUsed bool, err error) {
	source, err := config.ReadAt(place)
	var doubted *Untrusted
	if err == nil && place.Origin == config.Local {
		doubted = CheckTrust(source)
	}
	if err == nil && doubted == nil {
		if cfg, err = s.parse(l, source, user); err == nil {
			s.sources = append(s.sources, source)
			return cfg, true, nil
		}
	}
	if doubted != nil {
		s.Doubted, err = doubted, errors.New(doubted.Notice())
	} else if !isAboutContent(err) {
		return nil, false, err
	}
	if kept := before.source(place.Path); kept != nil {
		if cfg, wrong := s.parse(l, kept, user); wrong == nil {
			s.sources, s.Kept = append(s.sources, kept), append(s.Kept, err)
			return cfg, true, nil
		}
	}
	if doubted != nil {
		s.Untrusted = doubted
	} else {
		s.Broken = append(s.Broken, err)
	}
	return restrictions(place, source, cfg), false, nil
}

// restrictions returns the settings of an unused file. All of them are known if only its lock is invalid.
func restrictions(place config.Place, source *config.Source, cfg *config.Config) *config.Config {
	if cfg == nil {
		return config.Withheld(place.Path, source)
	}
	settings := *cfg
	settings.Toolboxes = nil
	return &settings
}

// parse parses a source. If another file is used as well, an invalid lock affects its own file only.
func (s *Loaded) parse(l *Loader, source *config.Source, user *config.Config) (*config.Config, error) {
	environ := l.Environ
	if environ == nil {
		environ = os.Environ()
	}
	cfg, err := source.LoadUnder(environ, user)
	if err == nil && len(s.Places) > 1 && !l.IgnoreLock {
		err = app.CheckLock(cfg)
	}
	return cfg, err
}

// isAboutContent reports whether an error is about the content of a file.
func isAboutContent(err error) bool {
	if _, ok := errors.AsType[*config.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[*toolbox.Error](err)
	return ok
}

// source returns the source in use of a file; nil if the file is not in use.
func (s *Loaded) source(path string) *config.Source {
	if s == nil {
		return nil
	}
	for _, source := range s.sources {
		if source.Path == path {
			return source
		}
	}
	return nil
}

// IsUsable reports whether all files are used.
func (s *Loaded) IsUsable() bool { return s.Untrusted == nil && len(s.Broken) == 0 }

// IsEmpty reports whether there are files and none is used.
func (s *Loaded) IsEmpty() bool { return len(s.Places) > 0 && len(s.sources) == 0 }

// IsSame reports whether two loads had the same result.
func (s *Loaded) IsSame(other *Loaded) bool {
	return s.UsesSame(other) && fmt.Sprint(s.Kept) == fmt.Sprint(other.Kept)
}

// UsesSame reports whether the same configuration is used, and clients get the same notice.
func (s *Loaded) UsesSame(other *Loaded) bool {
	return reflect.DeepEqual(s.Config, other.Config) && s.Notice() == other.Notice()
}

// Err returns every problem of the configuration, for commands that refuse to run with one.
func (s *Loaded) Err() error {
	if len(s.Broken) > 0 {
		return errors.Join(s.Broken...)
	}
	_, err := config.Strict(s.Config, nil)
	return err
}

// Notice explains to clients which files are not used, and why; "" if all are.
func (s *Loaded) Notice() string {
	var texts []string
	if s.Untrusted != nil {
		texts = append(texts, s.Untrusted.Notice())
	}
	for _, err := range s.Broken {
		texts = append(texts, BrokenNotice(err, !s.IsEmpty()))
	}
	return strings.Join(texts, "\n\n")
}

// BrokenNotice explains to clients that a file cannot be used; others reports whether another file is. Clients may cut
// the text after 512 characters, so the reason comes early.
func BrokenNotice(err error, others bool) string {
	text := err.Error()
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		text = wrong.Brief()
	}
	what := "The configuration of the workbench cannot be used, so no toolbox is available. "
	if others {
		what = "A file of the workbench's configuration cannot be used, so its toolboxes are not available. "
	}
	return what + "The user has to fix it; it is then used at once, without a restart:\n\n" + text
}

// WriteProblems writes every problem of the configuration and its consequence. It bypasses the log, which has a level
// and would escape commands and positions.
func (s *Loaded) WriteProblems(stderr io.Writer) {
	if s.Untrusted != nil {
		tty.Remark(stderr, s.Untrusted.Notice())
	}
	for _, err := range s.Broken {
		fmt.Fprintf(stderr, "%s\nmcp-workbench: clients get this message until the file is fixed\n", tty.Describe(err))
	}
	WriteFaults(stderr, s.Config)
}

// WriteFaults writes the problems inside single servers.
func WriteFaults(stderr io.Writer, cfg *config.Config) {
	faults := cfg.Faults()
	for _, fault := range faults {
		fmt.Fprintln(stderr, tty.Describe(fault))
	}
	if len(faults) > 0 {
		fmt.Fprintln(stderr, "mcp-workbench: servers with problems in their definition cannot connect; everything else works")
	}
}

// JoinFiles returns the paths of a configuration's files; "" for the built-in default.
func JoinFiles(cfg *config.Config, separator string) string {
	paths := make([]string, len(cfg.Files))
	for i, file := range cfg.Files {
		paths[i] = file.Path
	}
	return strings.Join(paths, separator)
}

// Summary counts the contents of a configuration in one line.
func Summary(cfg *config.Config) string {
	servers := 0
	for _, box := range cfg.Toolboxes {
		servers += len(box.Servers)
	}
	return fmt.Sprintf("%s, %s, %s", toolbox.Count(len(cfg.Toolboxes), "toolbox", "toolboxes"),
		toolbox.Count(servers, "server", "servers"), toolbox.Count(len(cfg.Warnings), "warning", "warnings"))
}
