package cli

import (
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/trust"
)

// listedToken is a token in JSON.
type listedToken struct {
	Name      string           `json:"name"`
	AllBoxes  bool             `json:"allToolboxes"`
	Toolboxes []string         `json:"toolboxes"` // empty if it is for all
	Rights    []httpauth.Right `json:"rights"`
	Created   time.Time        `json:"created"`
	Expires   *time.Time       `json:"expires,omitempty"` // absent: never
	Expired   bool             `json:"expired"`
}

// createdToken is the JSON of 'token add'.
type createdToken struct {
	listedToken
	Token string `json:"token"` // not shown again
}

// removedToken is the JSON of 'token remove'.
type removedToken struct {
	Name string `json:"name"`
}

func asListedToken(token httpauth.Token) listedToken {
	listed := listedToken{
		Name: token.Name, AllBoxes: token.Toolboxes == nil, Toolboxes: append([]string{}, token.Toolboxes...), Rights: token.Rights, Created: token.Created,
	}
	if !token.Expires.IsZero() {
		listed.Expires, listed.Expired = &token.Expires, !time.Now().Before(token.Expires)
	}
	return listed
}

func writeTokens(cmd *cobra.Command, store *httpauth.Store) error {
	tokens := []listedToken{}
	for _, token := range store.List() {
		tokens = append(tokens, asListedToken(token))
	}
	return writeJSON(cmd, struct {
		Tokens []listedToken `json:"tokens"`
	}{tokens})
}

// writeCreated writes a new token as JSON.
func writeCreated(cmd *cobra.Command, store *httpauth.Store, name, token string) error {
	all := store.List()
	created := createdToken{listedToken{Name: name}, token}
	if at := slices.IndexFunc(all, func(t httpauth.Token) bool { return t.Name == name }); at >= 0 {
		created.listedToken = asListedToken(all[at])
	}
	return writeJSON(cmd, created)
}

const tokenTime = "2006-01-02 15:04"

func listTokens(screen *tty.Screen, tokens []httpauth.Token) {
	if len(tokens) == 0 {
		fmt.Fprintln(screen, "There are no tokens. To create one: mcp-workbench token add NAME")
		return
	}
	var rows [][]tty.Cell
	for _, token := range tokens {
		may := "all"
		if token.Toolboxes != nil {
			may = trust.QuoteList(token.Toolboxes)
		}
		expires := tty.Cell{Text: "never"}
		switch {
		case token.Expires.IsZero():
		case time.Now().Before(token.Expires):
			expires.Text = token.Expires.Local().Format(tokenTime)
		default:
			expires = tty.Cell{Text: "expired", Style: tty.Bad}
		}
		rows = append(rows, []tty.Cell{
			{Text: token.Name, Style: tty.Name}, {Text: may}, {Text: httpauth.JoinRights(token.Rights)}, {Text: token.Created.Local().Format(tokenTime)}, expires,
		})
	}
	screen.Table([]string{"NAME", "TOOLBOXES", "FOR", "CREATED", "EXPIRES"}, rows)
}
