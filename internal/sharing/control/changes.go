package control

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
)

// Changes are the changed definitions that wait to be accepted.
type Changes struct {
	Changes []DefinitionChange `json:"changes"`
	More    int                `json:"more,omitempty"` // that are left out
}

// ChangeFilter selects changes; the zero value selects all.
type ChangeFilter struct {
	Toolbox, Server string
	Tool            *string // "" means the instructions
}

// DefinitionChange is a definition of a tool, or the instructions of a server, that changed and was not accepted.
type DefinitionChange struct {
	Toolbox  string     `json:"toolbox"`
	Server   string     `json:"server"`
	Tool     string     `json:"tool,omitempty"`     // "" for the instructions
	Withheld string     `json:"withheld,omitempty"` // why clients do not get it; "" if they do, with a warning
	New      bool       `json:"new,omitempty"`      // there was none before
	Hints    bool       `json:"hints,omitempty"`    // the annotations changed, and do not count until it is accepted
	Diff     []DiffLine `json:"diff,omitempty"`     // all of the new content, if the former one is not known or there was none
	Note     string     `json:"note,omitempty"`     // what a person has to know of the diff: that it is cut, for example
	Hash     string     `json:"hash"`               // of the new one: what is accepted
	Command  string     `json:"command"`            // that accepts it, too
}

// DiffLine is one line of a diff. Invisible characters are drawn, as ⟨U+200B⟩, and secrets masked.
type DiffLine struct {
	Op   string `json:"op"` // " ", "-", "+", or "@" with the words for lines that are left out since they did not change
	Text string `json:"text"`
}

// changes writes the changes.
func changes(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	filter := ChangeFilter{Toolbox: query.Get(toolboxParameter), Server: query.Get(serverParameter)}
	if query.Has(toolParameter) {
		tool := query.Get(toolParameter)
		filter.Tool = &tool
	}
	answer(w, subject.Changes(filter))
}

// accept accepts one of them.
func accept(w http.ResponseWriter, r *http.Request, subject Subject) {
	query := r.URL.Query()
	if err := subject.Accept(query.Get(toolboxParameter), query.Get(serverParameter), query.Get(toolParameter), query.Get(hashParameter)); err != nil {
		refuse(w, err)
		return
	}
	answer(w, struct{}{})
}

// Changes returns the changed definitions that wait to be accepted.
func (c *Client) Changes(ctx context.Context, filter ChangeFilter) (all Changes, err error) {
	query := url.Values{}
	if filter.Toolbox != "" {
		query.Set(toolboxParameter, filter.Toolbox)
	}
	if filter.Server != "" {
		query.Set(serverParameter, filter.Server)
	}
	if filter.Tool != nil {
		query.Set(toolParameter, *filter.Tool)
	}
	err = c.read(ctx, changesPath, query, &all)
	return all, err
}

// Accept accepts a change as the person saw it.
func (c *Client) Accept(ctx context.Context, change DefinitionChange) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodPost, acceptPath, url.Values{
		toolboxParameter: {change.Toolbox}, serverParameter: {change.Server}, toolParameter: {change.Tool}, hashParameter: {change.Hash},
	})
	if err != nil {
		return err
	}
	return body.Close()
}

// read requests a value.
func (c *Client) read(ctx context.Context, path string, query url.Values, value any) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	body, err := c.send(ctx, http.MethodGet, path, query)
	if err != nil {
		return err
	}
	defer body.Close()
	return json.NewDecoder(io.LimitReader(body, maxAnswer)).Decode(value)
}
