package cli

import (
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/access/credentials"
	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// TestUsedLoginsOfPeople: those at a server that has an account for each person are used, and others are listed together.
func TestUsedLoginsOfPeople(t *testing.T) {
	used := usedLogins{make(map[credentials.Key]bool), make(map[string]bool)}
	used.add(remote{"dev", &config.Server{Name: "crm", URL: "https://crm.example/mcp", OAuth: &config.OAuth{Accounts: config.AccountsPerPerson}}})
	used.add(remote{"dev", &config.Server{Name: "wiki", URL: "https://wiki.example/mcp"}})
	ann, bob := credentials.PersonAccount("i", "ann"), credentials.PersonAccount("i", "bob")
	var kept []*credentials.Credential
	for _, test := range []struct {
		server, account string
		want            bool
	}{
		{"https://crm.example/mcp", ann, true},
		{"https://crm.example/mcp", "", false}, // of the user, from before
		{"https://wiki.example/mcp", "", true},
		{"https://wiki.example/mcp", ann, false},
		{"https://wiki.example/mcp", bob, false},
	} {
		one := &credentials.Credential{Key: credentials.Key{Server: test.server, Account: test.account}}
		if used.has(one) != test.want {
			t.Errorf("%+v is used: %t", test, !test.want)
		}
		if credentials.IsPersonal(test.account) && !test.want {
			kept = append(kept, one, one) // at two authorization servers
		}
	}
	if rows := new(logins).unusedPeople(kept); len(rows) != 1 || rows[0].People != 2 || rows[0].URL != "https://wiki.example/mcp" {
		t.Errorf("got %+v", rows)
	}
}

func TestAccountsOfPeople(t *testing.T) {
	l := &logins{config: &config.Config{HTTP: config.HTTP{OAuth: &config.HTTPOAuth{Issuer: "https://idp.example"}}}}
	flags := logoutFlags{person: "ann"}
	accounts, err := flags.accounts(l, remote{})
	if err != nil || len(accounts) != 1 || accounts[0] != credentials.PersonAccount("https://idp.example", "ann") {
		t.Errorf("got %q, %v", accounts, err)
	}
	l.config.HTTP.OAuth = nil
	if _, err := flags.accounts(l, remote{}); err == nil {
		t.Error("a subject is somebody without an identity provider")
	}
}
