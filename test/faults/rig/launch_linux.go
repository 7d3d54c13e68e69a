package rig

import (
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// prepare writes the configuration and launches the workbench.
func (w *Workbench) prepare(o Options) error {
	if err := os.MkdirAll(filepath.Join(o.Dir, "home"), 0o700); err != nil {
		return err
	}
	path := filepath.Join(o.Dir, "config.json")
	if o.Boxes != nil {
		text, err := w.configuration(o)
		if err != nil {
			return err
		}
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return err
		}
	}
	log, err := os.Create(w.LogPath())
	if err != nil {
		return err
	}
	defer log.Close()
	args := append([]string{"--config", path}, o.Args...)
	if o.Above == HTTP {
		args = append([]string{"serve", "--listen", "127.0.0.1:0"}, args...)
		if !o.Auth {
			args = append(args, "--no-auth")
		}
	}
	w.cmd = exec.Command(o.Binary, args...)
	w.cmd.Dir, w.cmd.Stderr = o.Dir, log
	w.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(o.Dir, "home"), w.Mark}, o.Env...)
	if dir := os.Getenv("GOCOVERDIR"); dir != "" {
		w.cmd.Env = append(w.cmd.Env, "GOCOVERDIR="+dir)
	}
	if o.Above == HTTP && o.Auth {
		if w.token, err = w.NewToken("client"); err != nil {
			return err
		}
	}
	return w.launch(o.Above)
}

func (w *Workbench) launch(above Transport) error {
	out, theirs, err := os.Pipe() // not StdoutPipe, which Wait would close before all was read
	if err != nil {
		return err
	}
	defer theirs.Close()
	w.cmd.Stdout = theirs
	if above == HTTP {
		return w.launchHTTP(out)
	}
	in, err := w.cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := w.run(); err != nil {
		return err
	}
	client := newClient(&pipe{in: in})
	w.Client = client
	go func() {
		defer close(client.ended)
		client.read(out, client.pass)
	}()
	return nil
}

func (w *Workbench) run() error {
	if err := w.cmd.Start(); err != nil {
		return err
	}
	w.PID = w.cmd.Process.Pid
	go func() { _ = w.cmd.Wait(); close(w.exited) }() // the exit code is asked for later
	return nil
}

// launchHTTP launches a workbench that says where it listens.
func (w *Workbench) launchHTTP(out io.Reader) error {
	if err := w.run(); err != nil {
		return err
	}
	const announced = "mcp-workbench: listening on "
	way := newWeb("")
	err := Eventually(patience, func() error {
		_, rest, _ := strings.Cut(w.Log(), announced)
		address, _, complete := strings.Cut(rest, "\n")
		if way.address = address; !complete && w.Running() {
			return errors.New("the workbench does not say where it listens:\n" + w.Log())
		}
		return nil
	})
	if err == nil && way.address == "" {
		err = errors.New("the workbench does not serve:\n" + w.Log())
	}
	if err != nil {
		w.kill()
		return err
	}
	way.token = w.token
	client := newClient(way)
	way.client, w.Client = client, client
	go func() {
		defer close(client.ended)
		client.read(out, func(line []byte) { client.protest("on stdout", line) })
		<-w.exited
		_ = way.close() // never fails
	}()
	return nil
}

// NewToken makes a token for some toolboxes.
func (w *Workbench) NewToken(name string, toolboxes ...string) (string, error) {
	cmd := exec.Command(w.cmd.Path, "token", "add", name, "--config", filepath.Join(w.Dir, "config.json"))
	for _, box := range toolboxes {
		cmd.Args = append(cmd.Args, "--toolbox", box)
	}
	cmd.Env, cmd.Dir = w.cmd.Env, w.Dir
	out, err := cmd.Output()
	return strings.TrimSpace(string(out)), err
}

// Run runs another command of the workbench in the same home, and returns what it prints.
func (w *Workbench) Run(args ...string) (string, error) {
	cmd := exec.Command(w.cmd.Path, args...)
	cmd.Env, cmd.Dir = w.cmd.Env, w.Dir
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (w *Workbench) configuration(o Options) ([]byte, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	boxes := make(map[string]any)
	for box, members := range o.Boxes {
		servers := make(map[string]any)
		for name, server := range members {
			entry := map[string]any{"command": server.Command, "args": append([]string{}, server.Args...)}
			if server.Role != "" {
				entry = map[string]any{"command": self, "args": []string{ServeArg, server.Role, w.ServerLogPath(name)}}
			}
			mark, value, _ := strings.Cut(w.Mark, "=")
			env := map[string]string{mark: value}
			maps.Copy(env, server.Env)
			entry["env"] = env
			if server.URL != "" {
				entry = map[string]any{"url": server.URL}
			}
			if server.Role != "" && (o.Below == HTTP || o.Below == SSE) {
				adapted, err := w.adapt(o.Below, []string{self, ServeArg, server.Role, w.ServerLogPath(name)})
				if err != nil {
					return nil, err
				}
				entry = map[string]any{"url": adapted, "transport": o.Below, "headers": envHeaders(server.Env)}
			}
			maps.Copy(entry, server.More)
			servers[name] = entry
		}
		boxes[box] = map[string]any{"mcpServers": servers}
	}
	top := map[string]any{"toolboxes": boxes}
	maps.Copy(top, o.Top)
	return json.Marshal(top)
}
