// Package loader reads the configuration that a workbench or a command uses: it finds the files, checks whether they
// are trusted, and keeps the last usable content of a file that is broken or gone.
package loader

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/app"
	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// Loader selects the files to load.
type Loader struct {
	ConfigPath string         // the file named by --config; "": the usual places
	Places     []config.Place // search these instead of the usual places; may be nil
	Environ    []string       // the environment for variables; nil: that of this process
	IgnoreLock bool           // do not check workbench.lock
}

// Candidates returns the places to look for configuration files.
func (l *Loader) Candidates() ([]config.Place, error) {
	if l.Places != nil {
		return l.Places, nil
	}
	return config.Candidates(l.ConfigPath, os.Getenv)
}

// Find returns the configuration files that exist or were named.
func (l *Loader) Find() ([]config.Place, error) {
	places, err := l.Candidates()
	return config.Existing(places), err
}

// findKeeping is Find for a running workbench. A file in use that is gone still counts, since an editor may be about to
// write it again. Only a project's file may disappear, and only if the user has a file: the user's file may restrict
// the project's, and without any file others would replace it.
func (l *Loader) findKeeping(before *Loaded) ([]config.Place, error) {
	places, err := l.Candidates()
	existing := config.Existing(places)
	if before == nil || err != nil {
		return existing, err
	}
	isUsers := func(place config.Place) bool {
		return place.Origin == config.User && (slices.Contains(existing, place) || before.source(place.Path) != nil)
	}
	hasUsers := slices.ContainsFunc(places, isUsers)
	return slices.DeleteFunc(slices.Clone(places), func(place config.Place) bool {
		isKept := before.source(place.Path) != nil && !hasUsers
		return !isKept && !isUsers(place) && !slices.Contains(existing, place)
	}), nil
}

// Load reads the configuration in order to run it; single servers may have faults. Nothing of an
// untrusted file is parsed. Before is the configuration in use; it may be nil.
func (l *Loader) Load(before *Loaded) (*Loaded, error) {
	places, err := l.findKeeping(before)
	if err != nil {
		return nil, err
	}
	s := &Loaded{Places: places}
	if len(places) == 0 {
		s.Config = config.Default()
		return s, nil
	}
	var user *config.Config // its top-level keys apply to the project's file, too
	var layers []*config.Config
	for _, place := range slices.Backward(places) {
		cfg, isUsed, err := s.read(l, place, user, before)
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
		s.Config = config.Empty()
		s.Config.Path = places[0].Path
	case 1:
		s.Config = layers[0]
	default:
		s.Config = config.Join(layers[1], layers[0])
	}
	return s, nil
}

// LoadAsking is Load for a command with a person in front of it, who is asked about an untrusted
// file. It fails if no file can be used.
func (l *Loader) LoadAsking(ctx context.Context, out io.Writer) (*Loaded, error) {
	s, err := l.Load(nil)
	if err == nil && s.Untrusted != nil {
		if err = s.Untrusted.Ask(ctx, out); err == nil {
			s, err = l.Load(nil)
		} else if known, ok := errors.AsType[*toolbox.Error](err); ok && known.Code == toolbox.NotTrusted && !s.IsEmpty() {
			err = nil // the user's own file is used
		}
	}
	switch {
	case err != nil:
		return nil, err
	case !s.IsEmpty():
		return s, nil
	case s.Untrusted != nil:
		return nil, s.Untrusted.Refusal()
	}
	return nil, s.Err()
}

// ReadFile is a single configuration file.
type ReadFile struct {
	config.Place
	Config *config.Config // its servers may have faults
	Err    error
}

// ReadAll reads every file, trusted or not, for commands that run nothing of it.
func (l *Loader) ReadAll() ([]ReadFile, error) {
	places, err := l.Find()
	if err != nil {
		return nil, err
	}
	files := make([]ReadFile, len(places))
	var user *config.Config // its top-level keys apply to the project's file, too
	for i, place := range slices.Backward(places) {
		source, err := config.ReadAt(place)
		if err == nil {
			user, err = source.LoadUnder(os.Environ(), user)
		}
		files[i] = ReadFile{place, user, err}
		if err != nil {
			user = config.Withheld(place.Path, source)
		}
	}
	if len(files) == 2 && files[0].Err == nil && files[1].Err == nil {
		files[1].Config.Warnings = files[1].Config.WarningsBeside(files[0].Config)
	}
	return files, nil
}

// Outline returns the names that the trusted, readable files define. It reports no errors: shell
// completion cannot show any.
func (l *Loader) Outline() *config.Preview {
	all := &config.Preview{}
	places, err := l.Find()
	if err == nil && len(places) == 0 {
		return OutlineOf(config.Default())
	}
	for _, place := range places {
		source, err := config.Read(place.Path)
		if err != nil || place.Origin == config.Local && CheckTrust(source) != nil {
			continue
		}
		if preview, err := source.Preview(os.Environ()); err == nil {
			all.Add(preview)
		}
	}
	return all
}

// OutlineOf returns the names that a loaded configuration defines.
func OutlineOf(cfg *config.Config) *config.Preview {
	outline := &config.Preview{}
	for _, box := range cfg.Toolboxes {
		outline.Toolboxes = append(outline.Toolboxes, config.PreviewToolbox{Name: box.Name, Description: box.Description})
		for _, server := range box.Servers {
			outline.Servers = append(outline.Servers, config.PreviewServer{Toolbox: box.Name, Name: server.Name, Builtin: server.Builtin})
		}
	}
	return outline
}

// cacheTime is the time limit of Cached: a shell waits for it when a person presses the tab key.
const cacheTime = 2 * time.Second

// Cached returns the cached tool lists without starting a server. Like Outline, it reports no
// errors. Shell completion has no context: it may be nil.
func (l *Loader) Cached(ctx context.Context) []app.KnownServer {
	s, err := l.Load(nil)
	if err != nil {
		return nil
	}
	if ctx == nil {
		ctx = context.Background()
	}
	ctx, cancel := context.WithTimeout(ctx, cacheTime)
	defer cancel()
	known, err := app.Remembered(ctx, s.Config, config.StateDir())
	if err != nil {
		return nil
	}
	return known
}
