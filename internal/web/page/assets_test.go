package page

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/mcp-workbench/mcp-workbench/internal/observe/recording"
)

// vendored is vendor.json.
type vendored struct {
	Packages []struct {
		Name, Version, License, Integrity string
		Files                             []struct{ File, From, SHA384 string }
	}
}

func readVendored(t *testing.T) (all vendored, files map[string]string) {
	t.Helper()
	data, err := fs.ReadFile(builtIn, "assets/vendor/vendor.json")
	if err == nil {
		err = json.Unmarshal(data, &all)
	}
	if err != nil {
		t.Fatal(err)
	}
	files = make(map[string]string)
	for _, one := range all.Packages {
		for _, file := range one.Files {
			files[file.File] = file.SHA384
		}
	}
	return all, files
}

func sha384(data []byte) string {
	sum := sha512.Sum384(data)
	return "sha384-" + base64.StdEncoding.EncodeToString(sum[:])
}

// Modules of others are as they were published: vendor.json says what each is, and the import map has the browser check it.
func TestVendoredFiles(t *testing.T) {
	all, want := readVendored(t)
	for _, one := range all.Packages {
		if one.Version == "" || one.License == "" || !strings.HasPrefix(one.Integrity, "sha512-") {
			t.Errorf("vendor.json says too little about %s", one.Name)
		}
	}
	err := fs.WalkDir(builtIn, "assets/vendor", func(name string, entry fs.DirEntry, err error) error {
		short := strings.TrimPrefix(name, "assets/vendor/")
		if err != nil || entry.IsDir() || short == "vendor.json" {
			return err
		}
		data, err := fs.ReadFile(builtIn, name)
		if got := sha384(data); err == nil && got != want[short] {
			t.Errorf("%s has the hash %s, and vendor.json %q: files of others are not changed", short, got, want[short])
		}
		delete(want, short)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for name := range want {
		t.Errorf("vendor.json has %s, which does not exist", name)
	}
}

func TestImportMap(t *testing.T) {
	_, files := readVendored(t)
	index, err := fs.ReadFile(builtIn, "assets/index.html")
	if err != nil {
		t.Fatal(err)
	}
	var imports struct{ Imports, Integrity map[string]string }
	if err := json.Unmarshal(importMap.FindSubmatch(index)[1], &imports); err != nil {
		t.Fatal(err)
	}
	for name, file := range imports.Imports {
		short, ok := strings.CutPrefix(file, "./assets/vendor/")
		if !ok || files[short] == "" || imports.Integrity[file] != files[short] {
			t.Errorf("%s: %s has the integrity %q, and vendor.json %q", name, file, imports.Integrity[file], files[short])
		}
	}
	for _, found := range regexp.MustCompile(`<script [^>]*src="\./assets/vendor/([^"]+)"( integrity="([^"]*)")?`).FindAllSubmatch(index, -1) {
		if name := string(found[1]); files[name] == "" || string(found[3]) != files[name] {
			t.Errorf("the script %s has the integrity %q, and vendor.json %q", name, found[3], files[name])
		}
	}
	// A module that is imported is in the map, or a file of ours.
	bare := regexp.MustCompile(`(?:from|import)\s*\(?["']([^"'./\s][^"'\s]*)["']`)
	for _, name := range assetNames(t) {
		if kind := path.Ext(name); kind != ".js" && kind != ".mjs" {
			continue
		}
		data, err := fs.ReadFile(builtIn, name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range bare.FindAllSubmatch(data, -1) {
			if imports.Imports[string(found[1])] == "" {
				t.Errorf("%s imports %s, which is not in the import map", name, found[1])
			}
		}
	}
}

func assetNames(t *testing.T) (names []string) {
	t.Helper()
	err := fs.WalkDir(builtIn, "assets", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

// The page is small: it is in the program, and loads in a moment. No build step makes it smaller.
func TestSizeOfAssets(t *testing.T) {
	const most = 350_000
	size := 0
	for _, name := range assetNames(t) {
		data, err := fs.ReadFile(builtIn, name)
		if err != nil {
			t.Fatal(err)
		}
		if name != "assets/index.html" && types[path.Ext(name)] == "" {
			t.Errorf("%s has no type, and is not served", name)
		}
		size += len(data)
	}
	for name := range recordingView {
		data, err := fs.ReadFile(recording.View, "view/"+name)
		if err != nil {
			t.Fatal(err)
		}
		size += len(data)
	}
	if t.Logf("%d bytes", size); size > most {
		t.Errorf("the page has %d bytes; at most %d", size, most)
	}
}

func TestAssetsAreServed(t *testing.T) {
	p := newTestPage(t, Options{})
	for path, kind := range map[string]string{
		"/ui/": "text/html", "/ui/assets/app.js": "text/javascript", "/ui/assets/vendor/preact.mjs": "text/javascript", "/ui/assets/style.css": "text/css",
	} {
		got := request(p, http.MethodGet, path, "", "")
		if got.Code != http.StatusOK || !strings.HasPrefix(got.Header().Get("Content-Type"), kind) || got.Body.Len() == 0 {
			t.Errorf("%s: %d, %s", path, got.Code, got.Header().Get("Content-Type"))
		}
		checkHeaders(t, path, got.Header())
	}
	for _, path := range []string{"/ui/assets/", "/ui/assets/nothing.js", "/ui/assets/index.html", "/ui/assets/vendor", "/ui/assets/%2e%2e/page.go", "/ui/other", "/other"} {
		got := request(p, http.MethodGet, path, "", "")
		if got.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, got.Code)
		}
		checkHeaders(t, path, got.Header())
	}
	if got := request(p, http.MethodGet, "/", "", ""); got.Code != http.StatusFound || got.Header().Get("Location") != "/ui/" {
		t.Errorf("/: %d, %s", got.Code, got.Header().Get("Location"))
	}
}

func checkHeaders(t *testing.T, path string, header http.Header) {
	t.Helper()
	for name, want := range map[string]string{
		"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
		"Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
	} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %s is %q", path, name, got)
		}
	}
	policy := header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"} {
		if !strings.Contains(policy, part) {
			t.Errorf("%s: its policy %q has no %s", path, policy, part)
		}
	}
}

// The policy has the hash of the import map as it is, also where a person edits the files.
func TestPolicyOfTheIndex(t *testing.T) {
	file := &fstest.MapFile{}
	files := fstest.MapFS{"index.html": file}
	index := func(of string) {
		file.Data = []byte(`<script type="importmap">` + of + `</script>`)
	}
	index(`{}`)
	p := newTestPage(t, Options{Assets: files})
	for _, text := range []string{`{}`, `{"imports": {}}`} {
		index(text)
		policy := request(p, http.MethodGet, "/ui/", "", "").Header().Get("Content-Security-Policy")
		hash := sha256.Sum256([]byte(text))
		if want := "script-src 'self' 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "';"; !strings.Contains(policy, want) || strings.Contains(policy, "unsafe") {
			t.Errorf("%s: the policy is %s", text, policy)
		}
		if !strings.Contains(policy, "require-trusted-types-for 'script'; trusted-types 'none'") {
			t.Errorf("the policy allows texts as code: %s", policy)
		}
	}
	if _, err := New(Options{Assets: fstest.MapFS{}}); err == nil {
		t.Error("a folder without index.html is accepted")
	}
}

func newTestPage(t *testing.T, options Options) *Page {
	t.Helper()
	if options.Find == nil {
		options.Find = noWorkbenches
	}
	p, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// request sends a request with JSON, if any.
func request(p *Page, method, path, token, body string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	w := httptest.NewRecorder()
	p.ServeHTTP(w, r)
	return w
}
