package clients

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
)

// translate converts an entry into a server. Clients share most keys, and the others mean the same wherever they occur;
// exceptions are in the client's table.
func (c *Client) translate(t *translator, entry member) (Server, error) {
	v := flatten(entry.value)
	server := Server{Name: entry.name, Disabled: v.get("disabled").text == "true" || v.get("enabled").text == "false"}
	if entry.name == "" {
		return server, fmt.Errorf("it has no name")
	}
	kind := firstText(v, "type", "transport")
	switch kind {
	case "builtin", "platform", "frontend", "inline_python":
		return server, fmt.Errorf("it is part of the client itself (%s)", kind)
	case "ws", "websocket":
		return server, fmt.Errorf("the workbench does not speak %s", kind)
	}
	if v.get("envFile").kind == text {
		return server, fmt.Errorf("it reads variables from a file (envFile)")
	}
	var err error
	switch address := firstText(v, "url", "httpUrl", "serverUrl", "uri"); {
	case v.get("command").kind != nothing || v.get("cmd").kind == text:
		err = server.readCommand(t, v)
	case address != "":
		err = errors.Join(server.readURL(t, v, address), server.readLogin(t, v))
		server.Transport = c.transport(kind, v)
	default:
		err = errNoServer
	}
	server.readTools(v)
	server.recordLostSettings(v)
	return server, err
}

// flatten converts entries with nested parts into the usual form.
func flatten(v value) value {
	for _, nested := range []string{"transport", "command"} {
		if inner := v.get(nested); inner.kind == object {
			flat := value{kind: object}
			for _, m := range inner.members {
				if m.name == "path" {
					m.name = "command"
				}
				flat.members = append(flat.members, m)
			}
			for _, m := range v.members {
				if m.name != nested {
					flat.members = append(flat.members, m)
				}
			}
			v = flat
		}
	}
	return v
}

func firstText(v value, names ...string) string {
	for _, name := range names {
		if found := v.get(name); found.kind == text && found.text != "" {
			return found.text
		}
	}
	return ""
}

func (s *Server) readCommand(t *translator, v value) (err error) {
	words := append([]string{}, v.get("args").strings()...)
	switch command := v.get("command"); command.kind {
	case list:
		words = command.strings()
	case text:
		words = append([]string{command.text}, words...)
	default:
		words = append([]string{v.get("cmd").text}, words...)
	}
	if len(words) == 0 || strings.TrimSpace(words[0]) == "" {
		return errNoServer
	}
	for i := range words {
		if words[i], err = t.text(words[i]); err != nil {
			return err
		}
	}
	s.Command, s.Args = words[0], words[1:]
	if dir := firstText(v, "cwd", "working_directory"); dir != "" {
		if s.Dir, err = t.text(dir); err != nil {
			return err
		}
		if !isAbsolute(s.Dir) {
			return fmt.Errorf("its folder '%s' depends on where the client runs", dir)
		}
	}
	for _, key := range []string{"env", "environment", "envs"} {
		if s.Env, err = t.settings(s.Env, v.get(key)); err != nil {
			return err
		}
	}
	for _, name := range v.get("env_vars").strings() { // names to pass on
		reference, err := plainReference(name, name)
		if err != nil {
			return err
		}
		s.Env = append(s.Env, Setting{name, reference})
	}
	for _, name := range v.get("env_keys").strings() { // names of values in the client's keyring
		s.Env = append(s.Env, Setting{name, t.newVariable(name)})
	}
	return nil
}

func isAbsolute(dir string) bool {
	return filepath.IsAbs(dir) || strings.HasPrefix(dir, "~/") || strings.HasPrefix(dir, "${") ||
		len(dir) > 2 && dir[1] == ':' || strings.HasPrefix(dir, `\\`)
}

func (s *Server) readURL(t *translator, v value, address string) (err error) {
	if s.URL, err = t.text(address); err != nil {
		return err
	}
	if !strings.HasPrefix(s.URL, "http://") && !strings.HasPrefix(s.URL, "https://") && !strings.HasPrefix(s.URL, "${") {
		return fmt.Errorf("its address does not begin with http:// or https://")
	}
	for _, headers := range []value{v.get("headers"), v.get("http_headers"), v.at([]string{"requestOptions", "headers"})} {
		if s.Headers, err = t.settings(s.Headers, headers); err != nil {
			return err
		}
	}
	if name := firstText(v, "bearer_token_env_var"); name != "" {
		reference, err := plainReference(name, name)
		if err != nil {
			return err
		}
		s.Headers = append(s.Headers, Setting{"Authorization", "Bearer " + reference})
	}
	for _, m := range v.get("env_http_headers").members {
		reference, err := plainReference(m.value.text, m.value.text)
		if err != nil {
			return err
		}
		s.Headers = append(s.Headers, Setting{m.name, reference})
	}
	return nil
}

// settings adds the texts of an object. Other values are added as written.
func (t *translator) settings(to []Setting, from value) ([]Setting, error) {
	for _, m := range from.members {
		if m.value.kind != text && m.value.kind != literal {
			continue
		}
		translated, err := t.text(m.value.text)
		if err != nil {
			return nil, err
		}
		to = append(to, Setting{m.name, translated})
	}
	return to, nil
}

func (c *Client) transport(kind string, v value) string {
	switch {
	case kind == "sse":
		return "sse"
	case kind == "" && firstText(v, "httpUrl") == "":
		return c.bareURL
	}
	return ""
}

// readTools reads the list of tools to offer.
func (s *Server) readTools(v value) {
	for _, key := range []string{"includeTools", "enabled_tools", "available_tools", "tools"} {
		if only := v.get(key).strings(); len(only) > 0 && only[0] != "*" {
			s.Tools = only
			return
		}
	}
}

// recordLostSettings records the settings that get lost.
func (s *Server) recordLostSettings(v value) {
	for _, key := range []string{"disabledTools", "disabled_tools", "excludeTools"} {
		if len(v.get(key).items) > 0 {
			s.Notes = append(s.Notes, "its list of excluded tools ("+key+") is not imported")
		}
	}
	for _, key := range []string{"headersHelper", "http_headers_helper"} {
		if v.get(key).kind != nothing {
			s.Notes = append(s.Notes, "its program for headers ("+key+") is not imported")
		}
	}
}
