package console

import (
	"errors"
	"fmt"
	"io/fs"
	"mime"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

// folder is where files are saved, under unused names.
type folder struct {
	path string // "": the working folder
}

const (
	maxNumber   = 10_000 // numbered copies of a saved file; beyond, an error
	maxBaseName = 100    // bytes of the name of a saved file; the rest is cut
)

// extensions lists those of types for which the system may know several or none.
var extensions = map[string]string{
	"image/png": ".png", "image/jpeg": ".jpg", "image/gif": ".gif", "image/webp": ".webp", "image/svg+xml": ".svg",
	"audio/wav": ".wav", "audio/x-wav": ".wav", "audio/mpeg": ".mp3", "audio/ogg": ".ogg", "audio/flac": ".flac", "audio/mp4": ".m4a", "audio/webm": ".webm",
	"application/pdf": ".pdf", "application/zip": ".zip", "application/json": ".json", "text/plain": ".txt",
}

// save writes a file and returns its path. It never overwrites another file.
func (f folder) save(name, mimeType string, content []byte) (string, error) {
	failed := func(err error) error {
		return &toolbox.Error{
			Code: toolbox.FileNotSaved, Message: "A file of the result could not be saved: " + err.Error(),
			Hint: "Name another folder with --output, or get the result as it is with --json.", Cause: err,
		}
	}
	if f.path != "" {
		if err := os.MkdirAll(f.path, 0o755); err != nil {
			return "", failed(err)
		}
	}
	base, extension := fileName(name, mimeType)
	for n := 1; n <= maxNumber; n++ {
		numbered := base
		if n > 1 {
			numbered = fmt.Sprintf("%s-%d", base, n)
		}
		path := filepath.Join(f.path, numbered+extension)
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return "", failed(err)
		}
		_, err = file.Write(content)
		if err = errors.Join(err, file.Close()); err != nil {
			return "", failed(err)
		}
		return path, nil
	}
	return "", failed(fmt.Errorf("there are %d files of the name %s%s", maxNumber, base, extension))
}

// fileName makes a file name from a server's text: it replaces everything that could leave the folder, hide the file or
// be special in a shell.
func fileName(name, mimeType string) (base, extension string) {
	safe := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '-', r == '_', r == '.':
			return r
		}
		return '-'
	}, name)
	safe = strings.Trim(safe, ".-")
	kind, _, err := mime.ParseMediaType(mimeType)
	if err == nil {
		extension = extensions[kind]
	}
	if own := path.Ext(safe); own != "" && len(own) <= 6 && (extension == "" || strings.EqualFold(own, extension)) {
		safe, extension = strings.TrimSuffix(safe, own), own
	}
	if extension == "" {
		extension = ".bin"
	}
	if len(safe) > maxBaseName {
		safe = safe[:maxBaseName]
	}
	if safe == "" {
		safe = "result"
	}
	return safe, extension
}

// lastPart returns the last part of a URI's path, or else the fallback.
func lastPart(uri, fallback string) string {
	_, rest, _ := strings.Cut(uri, "://")
	rest, _, _ = strings.Cut(rest, "?")
	if at := strings.LastIndexByte(rest, '/'); at >= 0 && at < len(rest)-1 {
		return rest[at+1:]
	}
	return fallback
}
