package page

import (
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"errors"
	"io/fs"
	"net/http"
	"path"
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

//go:embed assets
var builtIn embed.FS

// types are the types of files that the page has. Those of the machine may be wrong, and a browser runs no module of
// another type.
var types = map[string]string{
	".js": "text/javascript; charset=utf-8", ".mjs": "text/javascript; charset=utf-8", ".css": "text/css; charset=utf-8",
	".json": "application/json", ".svg": "image/svg+xml", ".png": "image/png", ".txt": "text/plain; charset=utf-8",
}

// assets are the files of the page.
type assets struct {
	files  fs.FS
	policy string // of the index; "" where files may change
}

// importMap is the only inline script. Its hash is computed, so that nobody has to keep one up to date.
var importMap = regexp.MustCompile(`(?s)<script type="importmap">(.*?)</script>`)

var errNoImportMap = errors.New(`index.html has no <script type="importmap">`)

// loadAssets checks the built-in files, or other ones, once.
func loadAssets(other fs.FS) (*assets, error) {
	if other != nil {
		a := &assets{files: other}
		_, _, err := a.index()
		return a, err
	}
	files, err := fs.Sub(builtIn, "assets")
	if err != nil {
		return nil, err
	}
	a := &assets{files: files}
	_, a.policy, err = a.index()
	return a, err
}

// index returns index.html and its policy.
func (a *assets) index() (data []byte, policy string, err error) {
	if data, err = fs.ReadFile(a.files, "index.html"); err != nil || a.policy != "" {
		return data, a.policy, err
	}
	found := importMap.FindSubmatch(data)
	if found == nil {
		return nil, "", errNoImportMap
	}
	hash := sha256.Sum256(found[1])
	return data, "default-src 'none'; script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'; " +
		"style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; " +
		"require-trusted-types-for 'script'; trusted-types 'none'", nil
}

func (a *assets) serveIndex(w http.ResponseWriter, _ *http.Request) {
	data, policy, err := a.index()
	if err != nil {
		refuse(w, http.StatusInternalServerError, "The page cannot be read: "+err.Error(), "It is in the folder of --assets.")
		return
	}
	w.Header().Set("Content-Security-Policy", policy)
	write(w, "text/html; charset=utf-8", data)
}

func (a *assets) serve(w http.ResponseWriter, r *http.Request) {
	name := strings.TrimPrefix(r.URL.Path, Path+"assets/")
	kind := types[path.Ext(name)]
	data, err := []byte(nil), fs.ErrNotExist
	if kind != "" && fs.ValidPath(name) {
		data, err = a.read(name)
	}
	if err != nil {
		refuse(w, http.StatusNotFound, "The page has no such file", "")
		return
	}
	write(w, kind, data)
}

// recordingView are the files that show a recording. The program has them once, for the page and for the files that stand
// alone; a folder that replaces the built-in files may have others.
var recordingView = map[string]bool{"recording-view.js": true, "recording-view.css": true}

func (a *assets) read(name string) ([]byte, error) {
	data, err := fs.ReadFile(a.files, name)
	if errors.Is(err, fs.ErrNotExist) && recordingView[name] {
		return fs.ReadFile(recording.View, "view/"+name)
	}
	return data, err
}

func write(w http.ResponseWriter, kind string, data []byte) {
	w.Header().Set("Content-Type", kind)
	_, _ = w.Write(data) // the browser may be gone
}
