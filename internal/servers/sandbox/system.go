package sandbox

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
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

// programPaths returns what a program needs for itself: its file, the interpreter of it, the package that it belongs to,
// and that of the script in its arguments.
func programPaths(program Program, env *environment) []string {
	home := env.home()
	paths := executablePaths(program.Path, env, home)
	for _, name := range []string{"node", "python3", "sh"} { // that package runners start
		if found := find(name, env.get("PATH")); found != "" && isRunner(program.Path) {
			paths = append(paths, executablePaths(found, env, home)...)
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
			paths = append(paths, scriptPaths(script, home)...)
		}
		break // later ones are for the script
	}
	return paths
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

// executablePaths returns an executable, what is installed with it, and the interpreter that its first line names.
func executablePaths(path string, env *environment, home string) []string {
	resolved, err := filepath.EvalSymlinks(path)
	if err != nil {
		return []string{path}
	}
	paths := []string{path, resolved}
	for _, file := range []string{path, resolved} {
		paths = append(paths, installedWith(file)...)
		paths = append(paths, packageOf(file, home)...)
		for _, manager := range managers {
			if folder := filepath.Join(home, manager); home != "" && isWithin(file, folder) {
				paths = append(paths, folder)
			}
		}
	}
	if interpreter := interpreterOf(resolved, env.get("PATH")); interpreter != "" && interpreter != resolved {
		paths = append(paths, executablePaths(interpreter, env, home)...)
	}
	return paths
}

// installedWith returns the folders that belong to an executable in a folder "bin": modules of Node.js and Python, and
// virtual environments with the Python that they were made of.
func installedWith(file string) []string {
	bin := filepath.Dir(file)
	prefix := filepath.Dir(bin)
	if filepath.Base(bin) != "bin" || prefix == "/" {
		return nil
	}
	if config, err := os.ReadFile(filepath.Join(prefix, "pyvenv.cfg")); err == nil {
		paths := []string{prefix}
		for line := range strings.Lines(string(config)) {
			if name, value, ok := strings.Cut(line, "="); ok && strings.TrimSpace(name) == "home" {
				paths = append(paths, installedWith(filepath.Join(strings.TrimSpace(value), "python3"))...)
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
func scriptPaths(script, home string) []string {
	paths := []string{script}
	resolved, err := filepath.EvalSymlinks(script)
	if err != nil {
		return paths
	}
	for _, file := range []string{script, resolved} {
		found := packageOf(file, home)
		if folder := filepath.Dir(file); len(found) == 0 && folder != "/" && folder != os.TempDir() && (home == "" || !isWithin(home, folder)) {
			found = []string{folder}
		}
		paths = append(paths, found...)
	}
	return paths
}

// maxFirstLine bounds the first line of a script, in bytes, as the kernel does.
const maxFirstLine = 256

// interpreterOf returns the program that the first line of a script names; "" if it is no script.
func interpreterOf(script, path string) string {
	file, err := os.Open(script)
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
