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
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
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

// findKeeping is find for a workbench that runs: a file that is in use and gone, perhaps until
// its editor has written it anew, counts still. Only a project's goes by itself, where the user
// has a file: that of the user may restrict the project's, and without any file others
// would take its place.
func (g *globals) findKeeping(before *setup) ([]config.Place, error) {
	places, err := g.candidates()
	there := config.Existing(places)
	if before == nil || err != nil {
		return there, err
	}
	isUsers := func(place config.Place) bool {
		return place.Origin == config.User && (slices.Contains(there, place) || before.source(place.Path) != nil)
	}
	hasUsers := slices.ContainsFunc(places, isUsers)
	return slices.DeleteFunc(slices.Clone(places), func(place config.Place) bool {
		isKept := before.source(place.Path) != nil && !hasUsers
		return !isKept && !isUsers(place) && !slices.Contains(there, place)
	}), nil
}

// load reads the configuration for those who run what it says; its servers may have faults.
// Of a file that is not trusted, nothing is parsed. Before is what is in use; it may be nil.
func (g *globals) load(before *setup) (*setup, error) {
	places, err := g.findKeeping(before)
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
		cfg, isUsed, err := s.read(g, place, user, before)
		if err != nil {
			return nil, err
		}
		if isUsed {
			layers = append(layers, cfg)
		}
		user = cfg
	}
	switch len(layers) {
	case 0:
		s.config = config.Empty()
		s.config.Path = places[0].Path
	case 1:
		s.config = layers[0]
	default:
		s.config = config.Join(layers[1], layers[0])
	}
	return s, nil
}

// read returns the configuration of one file, under that of the user if the file is a
// project's. If it is not used, that is what it demands of a project's toolboxes all the same.
func (s *setup) read(g *globals, place config.Place, user *config.Config, before *setup) (cfg *config.Config, isUsed bool, err error) {
	source, err := config.ReadAt(place)
	var doubted *untrusted
	if err == nil && place.Origin == config.Local {
		doubted = examine(source)
	}
	if err == nil && doubted == nil {
		if cfg, err = s.parse(g, source, user); err == nil {
			s.sources = append(s.sources, source)
			return cfg, true, nil
		}
	}
	if doubted != nil {
		s.doubted, err = doubted, errors.New(doubted.notice())
	} else if !isAbout(err) {
		return nil, false, err
	}
	if kept := before.source(place.Path); kept != nil {
		if cfg, wrong := s.parse(g, kept, user); wrong == nil {
			s.sources, s.kept = append(s.sources, kept), append(s.kept, err)
			return cfg, true, nil
		}
	}
	if doubted != nil {
		s.untrusted = doubted
	} else {
		s.broken = append(s.broken, err)
	}
	return demands(place, source, cfg), false, nil
}

// demands returns the settings of a file that is not used. Of one that only its lock is wrong
// with, all are known.
func demands(place config.Place, source *config.Source, cfg *config.Config) *config.Config {
	if cfg == nil {
		return config.Withheld(place.Path, source)
	}
	settings := *cfg
	settings.Toolboxes = nil
	return &settings
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
		tty.Remark(stderr, s.untrusted.notice())
	}
	for _, err := range s.broken {
		fmt.Fprintf(stderr, "%s\nmcp-workbench: clients are told so until the file is mended\n", tty.Describe(err))
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
		fmt.Fprintln(stderr, tty.Describe(fault))
	}
	if len(faults) > 0 {
		fmt.Fprintln(stderr, "mcp-workbench: servers with problems in their definition cannot connect; everything else works")
	}
}
