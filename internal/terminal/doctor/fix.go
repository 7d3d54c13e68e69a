package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/base/hidden"
	"github.com/mcp-workbench/mcp-workbench/internal/base/webclient"
	"github.com/mcp-workbench/mcp-workbench/internal/mcp/hops"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/downstream"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/fleet"
	"github.com/mcp-workbench/mcp-workbench/internal/servers/process"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// fix returns advice for a start that failed with err, whatever else was found.
func (e *Examiner) fix(ctx context.Context, patient *Patient, err error, found *Server) string {
	if ctx.Err() != nil {
		return ""
	}
	if failure, ok := errors.AsType[*fleet.Failure](err); ok && failure.Hint() != "" {
		return failure.Hint()
	}
	if lacksToken(err) {
		if advice := e.fixToken(patient, err); advice != "" {
			return e.mask(advice)
		}
	}
	if found.Login.isImpossible() {
		return "A login is not possible yet: see above. The text is also meant for the operator of the server."
	}
	if needed, ok := errors.AsType[*fleet.LoginNeededError](err); ok {
		return e.fixLogin(patient, needed)
	}
	if wrong, ok := errors.AsType[*process.CommandError](err); ok {
		return e.fixCommand(ctx, patient, wrong)
	}
	if isLoop(patient, err) {
		return "Remove it from the configuration: " + e.commandFor("remove", patient)
	}
	if patient.Config.URL != "" {
		return e.fixRemote(patient, err)
	}
	if advice := recognise(found.Stderr); advice != "" {
		return advice
	}
	failure, isFailure := errors.AsType[*fleet.Failure](err)
	if patient.Config.Sandbox != nil && (!isFailure || !failure.IsEnd()) {
		return "It runs in a sandbox, and does not say what it lacks. To see whether that is the reason, start it once without: " +
			`"sandbox": false. The page docs/sandbox.md says what a sandbox closes.`
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return "It runs, but does not answer. Is it an MCP server that speaks over stdio, and are its 'args' complete? " +
			`A server that downloads itself first may need longer: "timeouts": {"connect": "2m"}`
	}
	if patient.Config.Command == "" {
		return ""
	}
	return "Run the same command in a terminal, and look at what it says: " + e.mask(commandLine(patient))
}

// fixLogin advises on a server that a person has to log in to.
func (e *Examiner) fixLogin(patient *Patient, needed *fleet.LoginNeededError) string {
	if needed.Err.Final {
		return "Another login would not help. Ask those who run the server for the right to use it."
	}
	advice := "Log in: " + e.commandFor("login", patient)
	if needed.Err.Unchallenged {
		advice += `. If the server takes a fixed token instead, add "headers": {"Authorization": "Bearer ${TOKEN}"} to it.`
	}
	return advice
}

// isLoop reports whether the server refused because it is this workbench, or leads to it. It is another process, so
// only its message tells.
func isLoop(patient *Patient, err error) bool {
	loop := hops.LoopError{Server: hops.Server{Toolbox: patient.Toolbox, Name: patient.Config.Name}}
	return strings.Contains(err.Error(), loop.Error())
}

// commandFor returns a command about a server of the examined configuration.
func (e *Examiner) commandFor(command string, patient *Patient) string {
	return trust.Command(e.config, command, patient.Name())
}

// commandLine returns the line that a person would type.
func commandLine(patient *Patient) string {
	line := quoteWords(append([]string{patient.Config.Command}, patient.Config.Args...))
	if patient.Config.Dir != "" {
		line += " (in " + patient.Config.Dir + ")"
	}
	return line
}

func quoteWords(words []string) string {
	for i, word := range words {
		if word == "" || strings.ContainsAny(word, " \t\n'\"\\$`*?[]{}()<>|&;#~!") {
			words[i] = "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
		}
	}
	return strings.Join(words, " ")
}

// fixCommand advises on a command that is missing, or cannot be run.
func (e *Examiner) fixCommand(ctx context.Context, patient *Patient, wrong *process.CommandError) string {
	isAbsent := errors.Is(wrong, exec.ErrNotFound) || errors.Is(wrong, fs.ErrNotExist)
	if !isAbsent {
		return "Is it the right file? If it is, make it executable: chmod +x"
	}
	if wrong.Path == "" {
		return "'command' names a file that does not exist. Correct the path; a relative one starts at 'cwd', or else at the folder that the workbench runs in."
	}
	if found := e.shell.find(ctx, wrong.Command); found != "" {
		return fmt.Sprintf("Your login shell (%s) finds it: %s. %s; %s", e.shell.name, found, whyShorter(patient), useFound(found))
	}
	if found := findUsual(e.home, wrong.Command); found != "" {
		return fmt.Sprintf("It is installed, but not on the PATH: %s. %s; %s", found, whyShorter(patient), useFound(found))
	}
	if advice, ok := installs[strings.TrimSuffix(wrong.Command, ".exe")]; ok {
		return advice
	}
	return "Install it, or write its whole path into 'command'."
}

// whyShorter explains where the PATH that lacks the command comes from.
func whyShorter(patient *Patient) string {
	if patient.setsPath() {
		return "The server's own 'env' sets another PATH"
	}
	return "The workbench was started with a shorter PATH"
}

// useFound advises how to refer to the found command in the configuration.
func useFound(path string) string {
	if needsInterpreter(path) { // most likely beside it
		return addPath(filepath.Dir(path))
	}
	return `write the whole path: "command": ` + quoted(path)
}

func addPath(folder string) string {
	return `write into the server: "env": {"PATH": ` + quoted(folder+string(os.PathListSeparator)+"${PATH}") + "}"
}

func quoted(text string) string {
	encoded, _ := json.Marshal(text) // a string can always be encoded
	return string(encoded)
}

// installs maps the usual commands of servers to their sources.
var installs = map[string]string{
	"npx":     "Install Node.js, which brings npx. It may also be there, in a folder that the workbench does not search: write its whole path into 'command'.",
	"npm":     "Install Node.js, which brings npm.",
	"node":    "Install Node.js. With a version manager such as nvm, write the whole path of node into 'command'.",
	"pnpm":    "Install pnpm: npm install --global pnpm",
	"yarn":    "Install yarn: npm install --global yarn",
	"bun":     "Install Bun.",
	"bunx":    "Install Bun, which brings bunx.",
	"deno":    "Install Deno.",
	"uvx":     "Install uv, which brings uvx: the package 'uv' of your system, Homebrew or pipx.",
	"uv":      "Install uv: the package 'uv' of your system, Homebrew or pipx.",
	"pipx":    "Install pipx: the package 'pipx' of your system or Homebrew.",
	"python":  "Install Python, or write python3 into 'command', as it is called on many systems.",
	"python3": "Install Python 3.",
	"docker":  "Install Docker, and start it.",
	"podman":  "Install Podman.",
	"java":    "Install a Java runtime.",
	"dotnet":  "Install .NET.",
	"go":      "Install Go.",
	"cargo":   "Install Rust, which brings cargo.",
}

// fixRemote advises on a server that could not be reached, or refused.
func (e *Examiner) fixRemote(patient *Patient, err error) string {
	if status, ok := errors.AsType[*downstream.StatusError](err); ok {
		if status.Code == http.StatusUnauthorized && !patient.Config.SignsIn() {
			return e.fixFixed(patient)
		}
		return fixStatus(status.Code)
	}
	if advice := fixNetwork(err); advice != "" {
		return advice
	}
	if _, ok := errors.AsType[*downstream.UnreachableError](err); ok {
		return "Start the server, or correct 'url': host, port, and http or https. HTTPS_PROXY and NO_PROXY count, if they are set."
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return `The server does not answer. Is 'url' the address of its MCP endpoint? A slow one may need longer: "timeouts": {"connect": "2m"}`
	}
	return ""
}

// fixNetwork advises on what keeps requests from any server; "" if it is something else.
func fixNetwork(err error) string {
	if lookup, ok := errors.AsType[*net.DNSError](err); ok {
		if lookup.IsNotFound {
			return fmt.Sprintf("The name '%.200s' is not known. Is it spelt right in 'url', and does this machine need a VPN to know it?", hidden.Clean(lookup.Name))
		}
		return "Names cannot be looked up. Is there a network?"
	}
	if _, ok := errors.AsType[*webclient.ProxyError](err); ok {
		return "Correct HTTPS_PROXY or HTTP_PROXY, or add the host to NO_PROXY if it can be reached without a proxy."
	}
	switch {
	case webclient.IsUntrusted(err):
		return "If you trust the server, set NODE_EXTRA_CA_CERTS to a file with the certificate of its authority, in the environment that the workbench is started with."
	case webclient.IsTLS(err):
		return "Correct 'url', or ask those who run the server to correct its certificate: the text says what is wrong with it."
	}
	return ""
}

// fixFixed advises on a server that refuses, and that the configuration does not let anybody sign in to.
func (e *Examiner) fixFixed(patient *Patient) string {
	login := e.commandFor("login", patient)
	if patient.Config.OAuth != nil {
		return `The server wants a token. If it offers a login, remove "oauth": false and sign in: ` + login +
			`. If it takes a fixed token, add "headers": {"Authorization": "Bearer ${TOKEN}"} to it, and TOKEN=… to workbench.env.`
	}
	return "The server wants a token, and that in 'headers' is wrong or has expired: replace it. If the server offers a login, remove the header instead, and sign in: " + login
}

func fixStatus(code int) string {
	switch code {
	case http.StatusUnauthorized:
		return `The server wants a token: add "headers": {"Authorization": "Bearer ${TOKEN}"} to it, and TOKEN=… to workbench.env. ` +
			"If one is there already, it is wrong or has expired."
	case http.StatusForbidden:
		return "The server knows the token, but does not allow this. Ask for the right to use it, or take another token."
	case http.StatusNotFound, http.StatusMethodNotAllowed:
		return "There is no MCP server at this address. Correct the path in 'url', which often ends with /mcp or /sse."
	case http.StatusTooManyRequests:
		return "The server has had enough for now. Try again later."
	}
	if code/100 == 5 {
		return "The server, or a proxy before it, is broken or not up yet. Try again later, and look at its log."
	}
	return ""
}

// recognise finds the usual causes in the output of a server.
func recognise(stderr []string) string {
	for _, known := range complaints {
		pattern := regexp.MustCompile(known.pattern) // only here: no other command needs it
		for _, line := range stderr {
			if pattern.MatchString(line) {
				return known.advice
			}
		}
	}
	return ""
}

// complaints are messages of programs that start servers, with advice. The first match wins.
var complaints = []struct {
	pattern string
	advice  string
}{
	{`(?i)npm err.*E404|404 Not Found.*(npm|registry)|is not in (this|the npm) registry`, "The package does not exist under this name. Correct it in 'args'; a scope such as @name/ belongs to it."},
	{`(?i)npm err.*(ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ETIMEDOUT|ECONNRESET)`, "npm could not reach its registry. Is there a network? Behind a proxy, set HTTPS_PROXY."},
	{`(?i)npm err.*(EACCES|EPERM)|EACCES: permission denied`, "A file may not be written or read. With npm, look at whose the folder ~/.npm is."},
	{`env: .*(node|python3?|bash).*: No such file`, "The script's interpreter is not on the server's PATH. Add its folder: " + `"env": {"PATH": "/folder/of/it:${PATH}"}`},
	{`(?i)unsupported engine|EBADENGINE|requires node|Unexpected token '\?\?='|ERR_REQUIRE_ESM`, "The server needs a newer Node.js. Update it, or write the whole path of a newer npx into 'command'."},
	{`Cannot find module|ERR_MODULE_NOT_FOUND`, "A file or a package of the server is missing. Is the path in 'args' right and absolute, and was the server built and installed?"},
	{`ModuleNotFoundError|No module named`, "A Python package is missing. Run the server by uvx, which brings its packages, or install them for this Python."},
	{`(?i)no solution found|not found in the package registry|no matching distribution`, "The Python package does not exist under this name, or not for this version of Python."},
	{`(?i)cannot connect to the docker daemon|docker daemon.*(is not running|running\?)`, "Start Docker, and try again."},
	{`(?i)unable to find image|pull access denied|manifest unknown`, "The image is not there, or may not be pulled. Correct its name in 'args', or log in: docker login"},
	{`(?i)(EADDRINUSE|address already in use)`, "The server wants a port that another program has, perhaps another copy of it. End that one, or choose another port."},
	{`(?i)(api[ _-]?key|token|credential|password|secret|_key)\w*\b.*(required|missing|not (set|found|provided)|must be|is unset)|(missing|set|provide) .*(api[ _-]?key|_token|_key|_secret|credential)`, `It wants a secret. Add it: "env": {"NAME": "${NAME}"}, and NAME=… to the workbench.env beside the configuration.`},
	{`(?i)^usage:|missing (required )?argument|the following arguments are required|requires? at least`, "Its arguments are not complete. Compare 'args' with what its documents say."},
}
