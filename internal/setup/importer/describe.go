package importer

import (
	"os"
	"slices"
	"strings"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/configwrite"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// plainTopic is the topic of a toolbox that no rule is about.
const plainTopic = "Tools"

// addedPrefix starts the descriptions of toolboxes that 'add' creates.
const addedPrefix = plainTopic + " of "

// Describe returns the description of a toolbox that is about servers of any kind.
func Describe(servers []string) string {
	if len(servers) == 0 {
		return plainTopic
	}
	return addedPrefix + strings.Join(servers, ", ")
}

// describeTopic names the servers after the topic: models know many of them.
func describeTopic(topic string, servers []string) string {
	if len(servers) == 0 {
		return topic
	}
	return topic + " (" + strings.Join(servers, ", ") + ")"
}

// generated is a description that a command wrote. A person's own is never generated.
type generated struct{ topic string } // "": as Describe writes it

// parseGenerated recognises a generated description of a toolbox by its form: a known topic with names of the servers
// that the toolbox has, or had before somebody added some by hand.
func parseGenerated(description string, servers []string) (generated, bool) {
	areNames := func(list string) bool {
		if list == strings.Join(servers, ", ") {
			return len(servers) > 0
		}
		names := strings.Split(list, ", ")
		return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(servers, name) })
	}
	if list, ok := strings.CutPrefix(description, addedPrefix); ok && areNames(list) {
		return generated{}, true
	}
	for _, topic := range topics() {
		if len(servers) == 0 && description == topic {
			return generated{topic}, true
		}
		rest, ok := strings.CutPrefix(description, topic+" (")
		if list, closed := strings.CutSuffix(rest, ")"); ok && closed && areNames(list) {
			return generated{topic}, true
		}
	}
	return generated{}, false
}

func (g generated) describe(servers []string) string {
	if g.topic == "" {
		return Describe(servers)
	}
	return describeTopic(g.topic, servers)
}

// topics returns the topics of the descriptions that 'init' writes.
func topics() []string {
	all := []string{plainTopic, other.description}
	for _, r := range rules {
		all = append(all, r.description)
	}
	return all
}

// FollowServers updates the generated descriptions of toolboxes whose servers an edit changed. It leaves alone the
// named toolboxes, whose descriptions a person has just chosen.
func FollowServers(e *configwrite.Edit, chosen ...string) error {
	data, err := followServers(e.Path, e.Outline, e.Next, chosen)
	if err == nil {
		e.Next.Data = data
	}
	return err
}

func followServers(path string, before *config.Preview, next configwrite.Content, chosen []string) ([]byte, error) {
	after, err := config.Draft(path, next.Data, next.Env).Preview(os.Environ())
	if err != nil {
		return next.Data, nil //nolint:nilerr // the check of the edit reports it
	}
	data := next.Data
	for _, box := range after.Toolboxes {
		at := slices.IndexFunc(before.Toolboxes, func(b config.PreviewToolbox) bool { return b.Name == box.Name })
		if at < 0 || before.Toolboxes[at].Description != box.Description || slices.Contains(chosen, box.Name) {
			continue
		}
		had, shown := serverNames(before, box.Name)
		_, shows := serverNames(after, box.Name)
		form, ok := parseGenerated(box.Description, had)
		if !ok || slices.Equal(shown, shows) {
			continue
		}
		encoded, err := jsonc.Encode(form.describe(shows))
		if err != nil {
			return nil, err
		}
		if data, err = jsonc.Set(data, []string{"toolboxes", box.Name, "description"}, encoded); err != nil {
			return nil, err
		}
	}
	return data, nil
}

// serverNames returns the names of all servers of a toolbox, and of those that its description names: the enabled
// ones, or all if none is.
func serverNames(outline *config.Preview, box string) (all, shown []string) {
	for _, server := range (configwrite.Entry{Toolbox: box}).Servers(outline) {
		all = append(all, server.Name)
		if !server.Disabled {
			shown = append(shown, server.Name)
		}
	}
	if len(shown) == 0 {
		shown = all
	}
	return all, shown
}
