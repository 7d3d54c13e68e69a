package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/config"
	"github.com/mcp-workbench/mcp-workbench/internal/toolbox"
)

// setup is the configuration as it can be used, made of those of its files that may and can
// be, and what is wrong with the others.
type setup struct {
	config    *config.Config
	places    []config.Place   // of the files that there are, in the order of their toolboxes
	sources   []*config.Source // of the files that are used
	untrusted *untrusted       // not nil: the project's file is not used
	broken    []error          // why files cannot be used, one for each

	// Of a file that is in use, and that may not or cannot be used as it is now, what was read
	// before stays in use. Kept says why, and doubted that it is not trusted.
	kept    []error
	doubted *untrusted // also where untrusted is set
}

// candidates are the places where configuration files are looked for.
func (g *globals) candidates() ([]config.Place, error) {
	if g.places != nil {
		return g.places, nil
	}
	return config.Candidates(g.configPath, os.Getenv)
}

// find returns the places of the files that count.
func (g *globals) find() ([]config.Place, error) {
	places, err := g.candidates()
	return config.Existing(places), err
}

// load reads the configuration for those who run what it says; its servers may have faults.
// Of a file that is not trusted, nothing is parsed. Before is what is in use; it may be nil.
func (g *globals) load(before *setup) (*setup, error) {
	places, err := g.find()
	if err != nil {
		return nil, err
	}
	s := &setup{places: places}
	if len(places) == 0 {
		s.config = config.Default()
		return s, nil
	}
	var user *config.Config // whose keys at the top count for the project's file, too
	var layers []*config.Config
	for _, place := range slices.Backward(places) {
		cfg, err := s.read(g, place, user, before)
		if err != nil {
			return nil, err
		}
		if cfg != nil {
			layers = append(layers, cfg)
		}
		if user = cfg; user == nil {
			user = config.Empty()
			user.Path = place.Path
		}
	}
	switch len(layers) {
	case 0:
		s.config = user
	case 1:
		s.config = layers[0]
	default:
		s.config = config.Join(layers[1], layers[0])
	}
	return s, nil
}

// read returns the configuration of one file, under that of the user if the file is a
// project's; nil if it is not used.
func (s *setup) read(g *globals, place config.Place, user *config.Config, before *setup) (*config.Config, error) {
	source, err := config.ReadAt(place)
	var doubted *untrusted
	if err == nil && place.Origin == config.Local {
		doubted = examine(source)
	}
	var cfg *config.Config
	if err == nil && doubted == nil {
		if cfg, err = s.parse(g, source, user); err == nil {
			s.sources = append(s.sources, source)
			return cfg, nil
		}
	}
	if doubted != nil {
		s.doubted, err = doubted, errors.New(doubted.notice())
	} else if !isAbout(err) {
		return nil, err
	}
	if source = before.source(place.Path); source != nil {
		if cfg, wrong := s.parse(g, source, user); wrong == nil {
			s.sources, s.kept = append(s.sources, source), append(s.kept, err)
			return cfg, nil
		}
	}
	if doubted != nil {
		s.untrusted = doubted
	} else {
		s.broken = append(s.broken, err)
	}
	return nil, nil
}

// parse makes a configuration of what was read. Where another file is used as well, a lock that
// is wrong is the problem of its file alone.
func (s *setup) parse(g *globals, source *config.Source, user *config.Config) (*config.Config, error) {
	environ := g.environ
	if environ == nil {
		environ = os.Environ()
	}
	cfg, err := source.LoadUnder(environ, user)
	if err == nil && len(s.places) > 1 && !g.anyLock {
		err = app.CheckLock(cfg)
	}
	return cfg, err
}

// isAbout reports whether an error is about the content of a file.
func isAbout(err error) bool {
	if _, ok := errors.AsType[*config.Error](err); ok {
		return true
	}
	_, ok := errors.AsType[*toolbox.Error](err)
	return ok
}

// source returns what is in use of a file; nil if nothing is.
func (s *setup) source(path string) *config.Source {
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

// isUsable reports whether all files may and can be used.
func (s *setup) isUsable() bool { return s.untrusted == nil && len(s.broken) == 0 }

// isEmpty reports whether there are files, and none is used.
func (s *setup) isEmpty() bool { return len(s.places) > 0 && len(s.sources) == 0 }

// isSame reports whether everything was read with the same result.
func (s *setup) isSame(other *setup) bool {
	return s.usesSame(other) && fmt.Sprint(s.kept) == fmt.Sprint(other.kept)
}

// usesSame reports whether the same is used, and clients are told the same.
func (s *setup) usesSame(other *setup) bool {
	return reflect.DeepEqual(s.config, other.config) && s.notice() == other.notice()
}

// wrong returns all that is wrong with the configuration, for those who do nothing then.
func (s *setup) wrong() error {
	if len(s.broken) > 0 {
		return errors.Join(s.broken...)
	}
	_, err := config.Strict(s.config, nil)
	return err
}

// notice tells clients which files are not used, and why; "" if all are.
func (s *setup) notice() string {
	var texts []string
	if s.untrusted != nil {
		texts = append(texts, s.untrusted.notice())
	}
	for _, err := range s.broken {
		texts = append(texts, brokenNotice(err, !s.isEmpty()))
	}
	return strings.Join(texts, "\n\n")
}

// brokenNotice is for clients, which may cut it after 512 characters: what is wrong comes
// early. Others says that there is another file, which is used.
func brokenNotice(err error, others bool) string {
	text := err.Error()
	if wrong, ok := errors.AsType[*config.Error](err); ok {
		text = wrong.Brief()
	} else if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Hint != "" {
		text += "\n" + known.Hint
	}
	what := "The configuration of the workbench cannot be used, so that no toolbox is available. "
	if others {
		what = "A file of the workbench's configuration cannot be used, so that its toolboxes are not available. "
	}
	return what + "The user has to mend it; it is then used at once, without a restart:\n\n" + text
}

// tellWrong writes all that is wrong with the configuration, and what becomes of it. It does
// not go through the log, which has a level, and would escape commands and positions.
func (s *setup) tellWrong(stderr io.Writer) {
	if s.untrusted != nil {
		fmt.Fprintln(stderr, "mcp-workbench: "+s.untrusted.notice())
	}
	for _, err := range s.broken {
		fmt.Fprintf(stderr, "%s\nmcp-workbench: clients are told so until the file is mended\n", describe(err))
	}
	tellFaults(stderr, s.config)
}

// nameFiles returns the paths of the files of a configuration; "" for the built-in one.
func nameFiles(cfg *config.Config, between string) string {
	paths := make([]string, len(cfg.Files))
	for i, file := range cfg.Files {
		paths[i] = file.Path
	}
	return strings.Join(paths, between)
}

// tellFaults writes what is wrong inside servers.
func tellFaults(stderr io.Writer, cfg *config.Config) {
	faults := cfg.Faults()
	for _, fault := range faults {
		fmt.Fprintln(stderr, describe(fault))
	}
	if len(faults) > 0 {
		fmt.Fprintln(stderr, "mcp-workbench: servers with problems in their definition cannot connect; everything else works")
	}
}
