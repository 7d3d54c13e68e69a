package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
)

// systemPaths are what programs read to run, whatever they do: libraries, programs of the system, certificates, names,
// time zones, and what the kernel says. Files of /etc are named one by one, since some hold secrets. What /proc says of other
// processes is limited by the kernel: Landlock lets no process look into one outside of the sandbox.
func systemPaths() []string {
	paths := []string{
		"/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store", "/run/current-system/sw",
		"/proc", "/sys/devices/system", "/sys/fs/cgroup", "/sys/kernel/mm/transparent_hugepage",
		"/run/systemd/resolve", "/run/resolvconf", "/run/NetworkManager/resolv.conf", "/var/lib/ca-certificates",
	}
	for _, name := range []string{
		"ld.so.cache", "ld.so.conf", "ld.so.conf.d", "ld.so.preload", "ld-musl-x86_64.path", "ld-musl-aarch64.path",
		"resolv.conf", "hosts", "hostname", "host.conf", "gai.conf", "nsswitch.conf", "services", "protocols", "networks",
		"passwd", "group", "localtime", "timezone", "locale.alias", "locale.conf", "locale.gen", "default/locale",
		"ssl/certs", "ssl/cert.pem", "ssl/openssl.cnf", "ssl/ca-bundle.pem", "pki/tls/certs", "pki/tls/cert.pem", "pki/tls/openssl.cnf",
		"pki/ca-trust", "ca-certificates", "ca-certificates.conf", "crypto-policies",
		"os-release", "lsb-release", "debian_version", "alternatives", "mime.types", "terminfo", "inputrc", "fonts", "magic",
		"npmrc", "pip.conf", "uv", "java", "python3", "java-17-openjdk", "java-21-openjdk", "java-25-openjdk",
	} {
		paths = append(paths, filepath.Join("/etc", name))
	}
	return paths
}

// devices are the devices that a program may use: none of them leads anywhere. The last two give random bytes.
var devices = []string{"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}

// managers are folders in which version managers keep programs, below the home folder. One who runs a program of such a
// manager needs all of it.
var managers = []string{
	".nvm", ".fnm", ".local/share/fnm", ".volta", ".asdf", ".local/share/mise", ".nodenv", ".n", ".pyenv", ".rye",
	".local/share/uv", ".local/share/pipx", ".local/pipx", ".local/share/pnpm", ".bun/bin", ".deno/bin", ".cargo/bin", ".sdkman",
}

// finder finds what a program needs for itself. It believes nothing that the program itself can change: a link, the first line of
// a script or the settings of a virtual environment would let its next start read whatever it likes.
type finder struct {
	env  *environment
	home string
}

// programPaths returns what a program needs for itself, without symbolic links: its file, the interpreter of it, the package that it
// belongs to, and that of the script in its arguments.
func programPaths(program Program, env *environment) []string {
	f := &finder{env, env.home()}
	paths := f.executablePaths(program.Path, maxInterpreters)
	for _, name := range []string{"node", "python3", "sh"} { // that package runners start
		if found := find(name, env.get("PATH")); found != "" && isRunner(program.Path) {
			paths = append(paths, f.executablePaths(found, maxInterpreters)...)
		}
	}
	for _, argument := range program.Args[min(1, len(program.Args)):] {
		if !interprets(program.Path) {
			break
		}
		if argument == "" || strings.HasPrefix(argument, "-") {
			continue
		}
		script := argument
		if !filepath.IsAbs(script) {
			script = filepath.Join(program.Dir, script)
		}
		if info, err := os.Stat(script); err == nil && info.Mode().IsRegular() {
			paths = append(paths, f.scriptPaths(script)...)
		}
		break // later ones are for the script
	}
	var found []string
	for _, path := range paths {
		if resolved, err := filepath.EvalSymlinks(path); err == nil {
			found = append(found, f.believed(path, resolved)...)
		}
	}
	return found
}

// believed returns paths that a file leads to. If the program can change that file, only those in a folder of a version
// manager count, which has nothing but programs.
func (f *finder) believed(source string, paths ...string) []string {
	resolved, err := filepath.EvalSymlinks(source)
	if err == nil && !isWithinAny(resolved, f.env.write) && linkWithin(source, f.env.write) == "" {
		return paths
	}
	return slices.DeleteFunc(paths, func(path string) bool { return !f.isManaged(path) })
}

func (f *finder) isManaged(path string) bool {
	resolved, err := filepath.EvalSymlinks(path)
	return err == nil && slices.ContainsFunc(managers, func(manager string) bool {
		folder := filepath.Join(f.home, manager)
		actual, err := filepath.EvalSymlinks(folder)
		return err == nil && f.home != "" && isWithin(resolved, actual) && linkWithin(folder, f.env.write) == ""
	})
}

// runners are programs that download and start packages.
var runners = []string{"npx", "npm", "pnpm", "pnpx", "yarn", "corepack", "tsx", "uvx", "uv", "pipx", "bunx"}

func isRunner(path string) bool { return slices.Contains(runners, filepath.Base(path)) }

// interpreters are programs whose first argument that is a file is a script.
var interpreters = []string{"node", "deno", "bun", "tsx", "ts-node", "python", "pypy", "ruby", "perl", "php", "lua", "java", "dotnet", "Rscript", "sh", "bash", "dash", "zsh"}

func interprets(path string) bool {
	name := strings.TrimRight(filepath.Base(path), "0123456789.")
	return slices.Contains(interpreters, name)
}

// maxInterpreters bounds how many interpreters and virtual environments are followed from a program. The kernel stops earlier.
const maxInterpreters = 8

// executablePaths returns an executable, what is installed with it, and the interpreter that its first line names.
func (f *finder) executablePaths(path string, depth int) []string {
	paths := append([]string{path}, f.filePaths(path, depth)...)
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil || depth == 0 {
		return paths
	}
	if resolved != path {
		paths = append(paths, f.believed(path, append(f.filePaths(resolved, depth), resolved)...)...)
	}
	if interpreter := interpreterOf(resolved, f.env.get("PATH")); interpreter != "" && interpreter != resolved {
		paths = append(paths, f.believed(path, f.executablePaths(interpreter, depth-1)...)...)
	}
	return paths
}

// filePaths returns what an executable needs by where it is.
func (f *finder) filePaths(file string, depth int) []string {
	paths := append(f.installedWith(file, depth), packageOf(file, f.home)...)
	for _, manager := range managers {
		if folder := filepath.Join(f.home, manager); f.home != "" && isWithin(file, folder) {
			paths = append(paths, folder)
		}
	}
	return paths
}

// maxEnvironmentFile is the size of the settings of a virtual environment; those of larger ones are not used.
const maxEnvironmentFile = 64 << 10

// installedWith returns the folders that belong to an executable in a folder "bin": modules of Node.js and Python, and
// virtual environments with the Python that they were made of.
func (f *finder) installedWith(file string, depth int) []string {
	bin := filepath.Dir(file)
	prefix := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || prefix == "/" {
		return nil
	}
	settings := filepath.Join(prefix, "pyvenv.cfg")
	if config, _, err := safefile.Read(settings, maxEnvironmentFile); err == nil {
		paths := []string{prefix}
		for line := range strings.Lines(string(config)) {
			if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "home" && depth > 0 {
				python := filepath.Join(strings.TrimSpace(value), "python3")
				return append(paths, f.believed(settings, f.installedWith(python, depth-1)...)...)
			}
		}
		return paths
	}
	paths, _ := filepath.Glob(filepath.Join(prefix, "lib", "python3*")) // the pattern is right
	return append(paths, bin, filepath.Join(prefix, "lib", "node_modules"))
}

// packageFiles mark the folder of a package.
var packageFiles = []string{"package.json", "pyproject.toml", "pyvenv.cfg", "deno.json", "go.mod"}

// maxAbove bounds the search for the folder of a package, in folders above a file.
const maxAbove = 32

// packageOf returns the folder of the package that a file belongs to: the outermost above it that is marked, with the
// modules that are shared by packages beside it. Neither the home folder nor one above it is a package.
func packageOf(file, home string) []string {
	var found []string
	folder := filepath.Dir(file)
	for range maxAbove {
		if folder == "/" || home != "" && isWithin(home, folder) {
			break
		}
		isMarked := slices.ContainsFunc(packageFiles, func(name string) bool {
			info, err := os.Stat(filepath.Join(folder, name))
			return err == nil && info.Mode().IsRegular()
		})
		if isMarked {
			found = []string{folder}
		}
		folder = filepath.Dir(folder)
	}
	return found
}

// scriptPaths returns a script and its package. Without one, it is the folder of the script, unless that is a home folder or
// one above it.
func (f *finder) scriptPaths(script string) []string {
	paths := []string{script}
	resolved, err := filepath.EvalSymlinks(script)
	if err != nil {
		return paths
	}
	for _, file := range []string{script, resolved} {
		found := packageOf(file, f.home)
		if folder := filepath.Dir(file); len(found) == 0 && folder != "/" && folder != os.TempDir() && (f.home == "" || !isWithin(f.home, folder)) {
			found = []string{folder}
		}
		if file != script {
			found = f.believed(script, found...)
		}
		paths = append(paths, found...)
	}
	return paths
}

// maxFirstLine bounds the first line of a script, in bytes, as the kernel does.
const maxFirstLine = 256

// interpreterOf returns the program that the first line of a script names; "" if it is no script.
func interpreterOf(script, path string) string {
	file, _, err := safefile.Open(script)
	if err != nil {
		return ""
	}
	defer file.Close()
	line, _ := bufio.NewReader(io.LimitReader(file, maxFirstLine)).ReadBytes('\n') // what there is of it
	command, ok := bytes.CutPrefix(line, []byte("#!"))
	if !ok {
		return ""
	}
	words := strings.Fields(string(command))
	if len(words) == 0 {
		return ""
	}
	if filepath.Base(words[0]) != "env" {
		return words[0]
	}
	for _, word := range words[1:] {
		if !strings.HasPrefix(word, "-") && !strings.Contains(word, "=") {
			return find(word, path)
		}
	}
	return ""
}

// find returns an executable on a PATH; "" if there is none.
func find(name, path string) string {
	for _, folder := range filepath.SplitList(path) {
		file := filepath.Join(folder, name)
		if info, err := os.Stat(file); err == nil && filepath.IsAbs(file) && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file
		}
	}
	return ""
}
