package builtin

import (
	"context"
	"flag"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/mcp-workbench/mcp-workbench/internal/base/toolbox"
)

const (
	maxNoteBytes   = 16 << 10 // size of a note; a larger one is refused
	maxTitleLength = 200      // characters of a title; a longer one is refused
	maxTags        = 16       // tags of a note; more are refused
	maxTagLength   = 50       // characters of a tag; a longer one is refused
	defaultRecall  = 10
	maxRecall      = 100     // notes in one answer; a higher limit is refused
	maxAnswerBytes = 100_000 // bytes of notes in one answer; further notes are left out
)

// notes is the server for the user's notes.
type notes struct {
	store *store
	now   func() time.Time
}

func openNotes(name string, args []string) (service, error) {
	if err := parseFlags(name, args, func(*flag.FlagSet) {}); err != nil {
		return nil, err
	}
	path, err := notesPath(runtime.GOOS, os.Getenv, os.UserHomeDir)
	if err != nil {
		return nil, err
	}
	return &notes{store: &store{path: path, most: maxNotesBytes, wait: lockWait}, now: time.Now}, nil
}

func (n *notes) Close() error { return nil }

func (n *notes) instructions() string {
	return "Keeps notes across conversations, on this machine only. " +
		"Use search_notes or recall before asking the user for something they may have told before, and remember when they say so."
}

func (n *notes) register(server *mcp.Server) {
	addTool(server, &mcp.Tool{
		Name:        "remember",
		Title:       "Remember a note",
		Description: "Keep a text for later conversations, and get its id. Write it so that it makes sense without this conversation.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(false), OpenWorldHint: new(false)},
	}, n.remember)
	addTool(server, &mcp.Tool{
		Name:        "recall",
		Title:       "Recall notes",
		Description: "Get the note with an id, or the latest notes, newest first.",
		Annotations: readOnly(),
	}, n.recall)
	addTool(server, &mcp.Tool{
		Name:        "search_notes",
		Title:       "Search notes",
		Description: "Find the notes that contain all of some words, in title, text or tags. Upper and lower case are the same; the newest notes come first.",
		Annotations: readOnly(),
	}, n.search)
	addTool(server, &mcp.Tool{
		Name:        "forget",
		Title:       "Forget a note",
		Description: "Delete the note with an id. This cannot be undone.",
		Annotations: &mcp.ToolAnnotations{DestructiveHint: new(true), IdempotentHint: true, OpenWorldHint: new(false)},
	}, n.forget)
}

type rememberInput struct {
	Text  string   `json:"text" jsonschema:"What to remember, up to 16 KiB."`
	Title string   `json:"title,omitempty" jsonschema:"Short title, up to 200 characters."`
	Tags  []string `json:"tags,omitempty" jsonschema:"Words to find the note by, up to 16."`
}

type rememberOutput struct {
	ID      int       `json:"id" jsonschema:"Number to recall or forget the note by"`
	Created time.Time `json:"created" jsonschema:"When it was remembered, RFC 3339"`
}

func (n *notes) remember(ctx context.Context, _ *mcp.CallToolRequest, in rememberInput) (*mcp.CallToolResult, *rememberOutput, error) {
	tags, err := checkNote(in)
	if err != nil {
		return nil, nil, err
	}
	kept := note{
		Title:   strings.TrimSpace(in.Title),
		Text:    in.Text,
		Tags:    tags,
		Created: n.now().UTC().Truncate(time.Second),
	}
	err = n.store.update(ctx, func(book *notebook) error {
		if len(book.Notes) >= maxNotes {
			return refuse("Use forget for notes that are no longer needed.", "There are %d notes already, which is the most.", len(book.Notes))
		}
		kept.ID = book.NextID
		book.NextID++
		book.Notes = append(book.Notes, kept)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return answer(fmt.Sprintf("Remembered as note %d.", kept.ID)), &rememberOutput{ID: kept.ID, Created: kept.Created}, nil
}

// checkNote validates a note and returns its tags in canonical form.
func checkNote(in rememberInput) ([]string, error) {
	switch {
	case strings.TrimSpace(in.Text) == "":
		return nil, refuse("Give the text to remember.", "The note is empty.")
	case len(in.Text) > maxNoteBytes:
		return nil, refuse("Shorten it, or split it into several notes.", "The note is %d bytes long, and may be %d.", len(in.Text), maxNoteBytes)
	case utf8.RuneCountInString(in.Title) > maxTitleLength:
		return nil, refuse("Shorten it.", "The title is %d characters long, and may be %d.", utf8.RuneCountInString(in.Title), maxTitleLength)
	case len(in.Tags) > maxTags:
		return nil, refuse("Use fewer.", "There are %d tags, and may be %d.", len(in.Tags), maxTags)
	}
	var tags []string
	for _, tag := range in.Tags {
		tag = cleanTag(tag)
		if tag == "" || utf8.RuneCountInString(tag) > maxTagLength {
			return nil, refuse(fmt.Sprintf("Use words of 1 to %d characters.", maxTagLength), "The tag %q cannot be used.", toolbox.Clip(tag, 2*maxTagLength))
		}
		if !slices.Contains(tags, tag) {
			tags = append(tags, tag)
		}
	}
	return tags, nil
}

func cleanTag(tag string) string {
	return strings.ToLower(strings.TrimPrefix(strings.TrimSpace(tag), "#"))
}

type recallInput struct {
	ID     int    `json:"id,omitempty" jsonschema:"Id of the note to get. Leave out for the latest notes."`
	Latest int    `json:"latest,omitempty" jsonschema:"How many of the latest notes to get, up to 100. Default: 10."`
	Tag    string `json:"tag,omitempty" jsonschema:"Get only notes with this tag."`
}

func (n *notes) recall(ctx context.Context, _ *mcp.CallToolRequest, in recallInput) (*mcp.CallToolResult, *notesOutput, error) {
	latest, err := inRange("latest", in.Latest, defaultRecall, maxRecall)
	if err != nil {
		return nil, nil, err
	}
	book, err := n.store.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	if in.ID != 0 {
		i, err := book.find(in.ID)
		if err != nil {
			return nil, nil, err
		}
		return pick(book.Notes[i:i+1], 1, func(*note) bool { return true })
	}
	tag := cleanTag(in.Tag)
	return pick(book.Notes, latest, func(k *note) bool { return tag == "" || slices.Contains(k.Tags, tag) })
}

type searchNotesInput struct {
	Words string `json:"words" jsonschema:"Words that must all occur, in any order; parts of words count."`
	Limit int    `json:"limit,omitempty" jsonschema:"Most notes to return, up to 100. Default: 10."`
}

func (n *notes) search(ctx context.Context, _ *mcp.CallToolRequest, in searchNotesInput) (*mcp.CallToolResult, *notesOutput, error) {
	limit, err := inRange("limit", in.Limit, defaultRecall, maxRecall)
	if err != nil {
		return nil, nil, err
	}
	if len(in.Words) > maxQuery {
		return nil, nil, refuse("Use fewer words.", "The words are %d bytes long, and may be %d.", len(in.Words), maxQuery)
	}
	words := strings.Fields(strings.ToLower(in.Words))
	if len(words) == 0 {
		return nil, nil, refuse("Give at least one, or use recall for the latest notes.", "There are no words to search for.")
	}
	book, err := n.store.read(ctx)
	if err != nil {
		return nil, nil, err
	}
	return pick(book.Notes, limit, func(k *note) bool {
		text := strings.ToLower(k.Title + "\n" + k.Text + "\n" + strings.Join(k.Tags, "\n"))
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(text, word) })
	})
}

type forgetInput struct {
	ID int `json:"id" jsonschema:"Id of the note to delete."`
}

type forgetOutput struct {
	ID   int `json:"id" jsonschema:"Id of the note that was deleted"`
	Left int `json:"left" jsonschema:"How many notes are left"`
}

func (n *notes) forget(ctx context.Context, _ *mcp.CallToolRequest, in forgetInput) (*mcp.CallToolResult, *forgetOutput, error) {
	out := &forgetOutput{ID: in.ID}
	err := n.store.update(ctx, func(book *notebook) error {
		i, err := book.find(in.ID)
		if err != nil {
			return err
		}
		book.Notes = slices.Delete(book.Notes, i, i+1)
		out.Left = len(book.Notes)
		return nil
	})
	if err != nil {
		return nil, nil, err
	}
	return answer(fmt.Sprintf("Forgot note %d; %s left.", out.ID, toolbox.Count(out.Left, "note is", "notes are"))), out, nil
}

// find returns the index of the note with an id.
func (b *notebook) find(id int) (int, error) {
	i := slices.IndexFunc(b.Notes, func(k note) bool { return k.ID == id })
	if i < 0 {
		return 0, refuse("Use recall or search_notes to see which notes there are.", "There is no note %d; it may have been forgotten.", id)
	}
	return i, nil
}
