package importer

import (
	"bytes"
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/clients"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/jsonc"
)

// Toolbox is a group of servers to import.
type Toolbox struct {
	Name        string
	Description string // models read it to decide whether to open the toolbox
	Servers     []*Server

	topic string // of the description
}

// rule assigns servers to a toolbox by words. The first matching rule wins, so specific rules come
// first.
type rule struct {
	toolbox, description string
	words                []string
}

var rules = []rule{
	{"code", "Repositories, issues, pull requests, builds and errors of software", []string{
		"github", "gitlab", "bitbucket", "gitea", "git", "jenkins", "circleci", "sentry", "sonarqube", "semgrep", "jetbrains", "xcode", "eslint",
	}},
	{"database", "Databases: look at tables, and run queries", []string{
		"postgres", "postgresql", "pg", "sqlite", "mysql", "mariadb", "mongodb", "mongo", "redis", "supabase", "duckdb", "bigquery",
		"snowflake", "clickhouse", "neon", "qdrant", "chroma", "pinecone", "elasticsearch", "neo4j", "prisma", "database", "sql", "airtable",
	}},
	{"web", "The web: search it, read pages, and use a browser", []string{
		"fetch", "browser", "puppeteer", "playwright", "chrome", "devtools", "brave", "exa", "tavily", "firecrawl", "perplexity", "serper",
		"duckduckgo", "kagi", "searxng", "browserbase", "crawl", "scrape", "web", "search",
	}},
	{"design", "Design and images", []string{"figma", "canva", "blender", "storybook", "sketch", "magic", "image", "images"}},
	{"messages", "Mail, chat and calendars", []string{
		"slack", "discord", "telegram", "whatsapp", "teams", "gmail", "email", "mail", "outlook", "calendar", "twilio", "zoom",
	}},
	{"projects", "Tasks, tickets and plans", []string{"jira", "linear", "asana", "trello", "atlassian", "monday", "clickup", "todoist", "shortcut"}},
	{"cloud", "Servers and services in the cloud: deploy, run, watch", []string{
		"aws", "azure", "gcp", "cloudflare", "vercel", "netlify", "kubernetes", "k8s", "docker", "terraform", "heroku", "railway",
		"grafana", "datadog", "prometheus", "digitalocean", "cloud",
	}},
	{"business", "Payments, customers and shops", []string{"stripe", "paypal", "hubspot", "salesforce", "shopify", "square", "xero", "intercom", "zendesk"}},
	{"notes", "Notes, memory and documentation", []string{
		"memory", "notes", "note", "notion", "obsidian", "confluence", "wiki", "evernote", "logseq", "knowledge", "docs", "context7", "deepwiki", "mem0",
	}},
	{"files", "Files and folders: find, read, write", []string{"filesystem", "files", "file", "fs", "drive", "gdrive", "dropbox", "box", "s3", "pdf", "excel"}},
	{"helpers", "Small helpers: time, thinking step by step, examples", []string{
		"time", "clock", "sequential", "sequentialthinking", "thinking", "everything", "calculator", "weather", "maps",
	}},
}

var other = rule{toolbox: "tools", description: "Further tools"}

// Propose groups the servers by topic: by their names first, then by their package or address.
func (p *Plan) Propose() []Toolbox {
	var boxes []Toolbox
	for _, server := range p.Servers {
		boxes = put(boxes, ruleFor(server), server)
	}
	slices.SortStableFunc(boxes, func(a, b Toolbox) int { return isOther(a) - isOther(b) })
	for i := range boxes {
		boxes[i].describe()
	}
	return boxes
}

func isOther(box Toolbox) int {
	if box.Name == other.toolbox {
		return 1
	}
	return 0
}

// All puts all servers into one toolbox.
func (p *Plan) All(name string) []Toolbox {
	box := Toolbox{Name: name, Servers: p.Servers}
	box.describe()
	return []Toolbox{box}
}

// Assign groups the servers by names that a person chose, one for each.
func (p *Plan) Assign(names []string) []Toolbox {
	var boxes []Toolbox
	for i, server := range p.Servers {
		r := rule{toolbox: names[i]}
		if at := slices.IndexFunc(rules, func(r rule) bool { return r.toolbox == names[i] }); at >= 0 {
			r = rules[at]
		}
		boxes = put(boxes, r, server)
	}
	for i := range boxes {
		boxes[i].describe()
	}
	return boxes
}

// Toolbox returns the proposed toolbox of a server.
func (s *Server) Toolbox() string { return ruleFor(s).toolbox }

func put(boxes []Toolbox, r rule, server *Server) []Toolbox {
	i := slices.IndexFunc(boxes, func(b Toolbox) bool { return b.Name == r.toolbox })
	if i < 0 {
		i = len(boxes)
		boxes = append(boxes, Toolbox{Name: r.toolbox, topic: r.description})
	}
	boxes[i].Servers = append(boxes[i].Servers, server)
	return boxes
}

// describe describes the toolbox by its topic and the servers that are enabled, or by all if none is.
func (b *Toolbox) describe() {
	var all, enabled []string
	for _, server := range b.Servers {
		all = append(all, server.Name)
		if !server.IsDisabled() {
			enabled = append(enabled, server.Name)
		}
	}
	if len(enabled) == 0 {
		enabled = all
	}
	b.Description = describeTopic(cmp.Or(b.topic, plainTopic), enabled)
}

// MaySignIn reports whether a person may have to sign in to the server: it is remote, enabled, and has no token.
func (s *Server) MaySignIn() bool {
	hasToken := slices.ContainsFunc(s.definition.Headers, func(h clients.Setting) bool { return strings.EqualFold(h.Name, "Authorization") })
	return s.definition.URL != "" && !s.IsDisabled() && (!hasToken || s.definition.Login != nil)
}

// IsDisabled reports whether the server is written as a disabled one.
func (s *Server) IsDisabled() bool { return s.definition.Disabled || len(s.Unset) > 0 }

func ruleFor(server *Server) rule {
	for _, words := range [][]string{split(server.Name), split(packageOrHost(server))} {
		for _, r := range rules {
			if slices.ContainsFunc(words, func(word string) bool { return slices.Contains(r.words, word) }) {
				return r
			}
		}
	}
	return other
}

// packageOrHost returns the package or the host of a server.
func packageOrHost(server *Server) string {
	d := server.definition
	if d.URL != "" {
		if address, err := url.Parse(d.URL); err == nil {
			return address.Host
		}
		return ""
	}
	for _, arg := range d.Args {
		if !strings.HasPrefix(arg, "-") && arg != "run" && arg != "exec" && arg != "x" && arg != "dlx" {
			return path.Base(strings.ReplaceAll(arg, `\`, "/"))
		}
	}
	return path.Base(strings.ReplaceAll(d.Command, `\`, "/"))
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// beginning is the start of a new configuration. Both keys change defaults, so comments explain them.
const beginning = `{
  // use_tool opens what it needs: scripts and one-shot clients cannot open a toolbox first.
  "autoOpen": true,
  // Opening lists signatures, a fraction of the tokens; full definitions come on request.
  "openDetail": "brief"
}
`

// Render returns the configuration with the toolboxes added; existing comments and order stay.
func (p *Plan) Render(before []byte, boxes []Toolbox) (after []byte, err error) {
	after = before
	if len(bytes.TrimSpace(before)) == 0 {
		after = []byte(beginning)
	}
	for i := range boxes {
		box := &boxes[i]
		box.describe() // variables may have got their values since the proposal
		for _, server := range box.Servers {
			name := server.Name
			for p.existing.boxes[box.Name][name] {
				name += "-2" // another server has the name there
			}
			entry := server.entry
			if server.atHome {
				if entry, err = jsonc.Set(entry, []string{"cwd"}, []byte(`"~"`)); err != nil {
					return nil, err
				}
			}
			if server.IsDisabled() {
				if entry, err = jsonc.Set(entry, []string{"disabled"}, []byte("true")); err != nil {
					return nil, err
				}
			}
			description := box.Description
			if p.existing.boxes[box.Name] != nil {
				description = ""
			}
			if after, err = placeEntry(after, box.Name, description, name, entry); err != nil {
				return nil, err
			}
		}
	}
	return after, nil
}

// placeEntry inserts an entry into a configuration, preceded by a description unless that is empty.
func placeEntry(document []byte, box, description, server string, entry []byte) ([]byte, error) {
	if description != "" {
		encoded, err := jsonc.Encode(description)
		if err != nil {
			return nil, err
		}
		if document, err = jsonc.Set(document, []string{"toolboxes", box, "description"}, encoded); err != nil {
			return nil, err
		}
	}
	return jsonc.Set(document, []string{"toolboxes", box, "mcpServers", server}, entry)
}
