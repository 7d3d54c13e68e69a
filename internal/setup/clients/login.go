package clients

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Login is how a client signs in to a remote server, as far as the workbench can do the same.
type Login struct {
	Off          bool // it does not
	ClientID     string
	ClientSecret string
	Scopes       []string
	CallbackPort int // 0: not set
}

// loginKeys are the keys of a login in the files of clients, by what they mean.
var loginKeys = map[string]string{
	"clientId": "id", "client_id": "id", "CLIENT_ID": "id",
	"clientSecret": "secret", "client_secret": "secret", "CLIENT_SECRET": "secret",
	"scope": "scopes", "scopes": "scopes",
	"callbackPort": "port", "callback_port": "port",
	"enabled": "enabled",
}

// readLogin reads how the client signs in. What the workbench cannot do is recorded as lost.
func (s *Server) readLogin(t *translator, v value) error {
	for _, key := range []string{"oauth", "auth"} {
		settings := v.get(key)
		switch {
		case settings.kind == nothing || s.URL == "":
			continue
		case settings.kind == literal && settings.text == "false":
			s.Login = &Login{Off: true}
			continue
		case settings.kind != object:
			continue
		}
		login, lost, err := readLogin(t, settings)
		if err != nil {
			return err
		}
		if len(lost) > 0 {
			s.Notes = append(s.Notes, fmt.Sprintf("of its login (%s), %s is not imported", key, strings.Join(lost, ", ")))
		}
		if login.ClientID != "" {
			s.Notes = append(s.Notes, "its client id is imported; the authorization server has to allow the redirect URI of the workbench for it: "+login.redirectURI())
		}
		if !login.isEmpty() {
			s.Login = login
		}
	}
	return nil
}

func readLogin(t *translator, settings value) (login *Login, lost []string, err error) {
	login = &Login{}
	for _, m := range settings.members {
		switch loginKeys[m.name] {
		case "id":
			login.ClientID, err = t.text(m.value.text)
		case "secret":
			login.ClientSecret, err = t.text(m.value.text)
		case "scopes":
			if login.Scopes = m.value.strings(); m.value.kind == text {
				login.Scopes = strings.Fields(m.value.text)
			}
		case "port":
			login.CallbackPort, _ = strconv.Atoi(m.value.text)
		case "enabled": // clients sign in anyway if a server asks for it
		default:
			lost = append(lost, m.name)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if login.ClientID == "" && login.ClientSecret != "" {
		login.ClientSecret, lost = "", append(lost, "the client's secret")
	}
	slices.Sort(lost)
	return login, lost, nil
}

func (l *Login) isEmpty() bool {
	return l.ClientID == "" && l.ClientSecret == "" && len(l.Scopes) == 0 && l.CallbackPort == 0
}

// redirectURI returns where the browser returns to after a login.
func (l *Login) redirectURI() string {
	port := "PORT"
	if l.CallbackPort != 0 {
		port = strconv.Itoa(l.CallbackPort)
	}
	return "http://127.0.0.1:" + port + "/callback"
}

// MarshalJSON writes the value of the key "oauth" of the configuration.
func (l *Login) MarshalJSON() ([]byte, error) {
	if l.Off {
		return []byte("false"), nil
	}
	d := definition{}
	d.addIf(l.ClientID != "", "clientId", l.ClientID)
	d.addIf(l.ClientSecret != "", "clientSecret", l.ClientSecret)
	d.addIf(len(l.Scopes) > 0, "scopes", l.Scopes)
	d.addIf(l.CallbackPort != 0, "callbackPort", l.CallbackPort)
	return d.object(), d.err
}
