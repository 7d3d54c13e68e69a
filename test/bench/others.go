package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
)

// other is another system to compare with, as the file of -others describes it.
type other struct {
	Name    string            `json:"name"`
	Lane    string            `json:"lane"`    // such as "stdio-stdio"
	Command []string          `json:"command"` // started over stdio; {echo} stands for the command line of the echo server
	Files   map[string]string `json:"files"`   // written to its folder first; {echo} and {self} as in command
	Env     map[string]string `json:"env"`
	Before  []struct {        // requests before the first call
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	} `json:"before"`
	Tool   string `json:"tool"`   // that a call names
	Params string `json:"params"` // of a call; {text} stands for what is echoed, inside of a string
}

// addOthers starts the systems of the file that belong to a lane.
func (b *bench) addOthers(l *lane, add func(string, *peer, error) (*way, error)) error {
	if b.others == "" {
		return nil
	}
	text, err := os.ReadFile(b.others)
	if err != nil {
		return err
	}
	var all []other
	if err := json.Unmarshal(text, &all); err != nil {
		return fmt.Errorf("%s: %w", b.others, err)
	}
	for _, o := range all {
		if o.Lane != l.name {
			continue
		}
		if err := b.addOther(o, add); err != nil {
			return fmt.Errorf("%s: %w", o.Name, err)
		}
	}
	return nil
}

func (b *bench) addOther(o other, add func(string, *peer, error) (*way, error)) error {
	folder, err := os.MkdirTemp(b.folder, "other")
	if err != nil {
		return err
	}
	self := strings.NewReplacer("{self}", b.self, "{echo}", b.self+" echo")
	for name, content := range o.Files {
		if err := os.WriteFile(folder+"/"+name, []byte(self.Replace(content)), 0o600); err != nil {
			return err
		}
	}
	var command []string
	for _, word := range o.Command {
		if word == "{echo}" {
			command = append(command, b.self, "echo")
			continue
		}
		command = append(command, self.Replace(word))
	}
	p := &peer{command: exec.Command(command[0], command[1:]...)}
	p.command.Dir, p.command.Stderr, p.command.Env = folder, os.Stderr, slices.Clone(b.env)
	for name, value := range o.Env {
		p.command.Env = append(p.command.Env, name+"="+self.Replace(value))
	}
	w, err := add(o.Name, p, p.launch())
	if err != nil {
		return err
	}
	for _, request := range o.Before {
		if _, err := p.ask(request.Method, strings.TrimSuffix(string(request.Params), "}")); err != nil {
			return err
		}
	}
	params, tail, found := strings.Cut(o.Params, "{text}")
	if !found {
		return fmt.Errorf(`"params" does not hold {text}: %s`, o.Params)
	}
	w.tool, w.params, w.tail = o.Tool, params, strings.TrimSuffix(tail, "}")
	w.meter = &meter{pid: p.command.Process.Pid}
	return nil
}
