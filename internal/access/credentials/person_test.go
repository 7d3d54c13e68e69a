package credentials

import (
	"errors"
	"slices"
	"testing"

	"github.com/mcp-workbench/mcp-workbench/internal/setup/config"
)

// TestPersonAccount: an account of a person is that of no other person, and of no configuration.
func TestPersonAccount(t *testing.T) {
	known := map[string]bool{SharedAccount: true}
	for _, who := range [][2]string{{"https://i.example", "ann"}, {"https://i.example", "bob"}, {"https://i.examplea", "nn"}, {"https://other.example", "ann"}, {"", ""}} {
		account := PersonAccount(who[0], who[1])
		if known[account] || account != PersonAccount(who[0], who[1]) || !IsPersonal(account) {
			t.Errorf("the account of %q is %q", who, account)
		}
		known[account] = true
	}
	for account := range known {
		if config.CheckAccount(account) == "" {
			t.Errorf("a configuration could name the account %q", account)
		}
	}
	for _, account := range []string{"", "work", "person"} {
		if IsPersonal(account) {
			t.Errorf("%q is taken for the account of a person", account)
		}
	}
}

func TestPeople(t *testing.T) {
	store := Open(t.TempDir(), Options{})
	ann, bob := PersonAccount("i", "ann"), PersonAccount("i", "bob")
	for _, key := range []Key{
		{Server: "https://a.example", Issuer: "x", Account: ann},
		{Server: "https://a.example", Issuer: "y", Account: ann},
		{Server: "https://a.example", Issuer: "x", Account: bob},
		{Server: "https://b.example", Issuer: "x", Account: bob},
		{Server: "https://a.example", Issuer: "x", Account: SharedAccount},
		{Server: "https://a.example", Issuer: "x"},
	} {
		lock, err := store.Lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		if err := lock.Save(&Credential{Key: key}); err != nil {
			t.Fatal(err)
		}
		lock.Unlock()
	}
	people, err := store.People("https://a.example")
	slices.Sort(people)
	want := []string{ann, bob}
	slices.Sort(want)
	if err != nil || !slices.Equal(people, want) {
		t.Errorf("got %q, %v", people, err)
	}
}

// TestStampOfAPerson changes at once with what the store does, and with what others change or remove; what others add is seen
// a little later.
func TestStampOfAPerson(t *testing.T) {
	folder := t.TempDir()
	own, other := Open(folder, Options{}), Open(folder, Options{})
	key := Key{Server: "https://a.example", Issuer: "x", Account: PersonAccount("i", "ann")}
	change := func(store *Store, edit func(*Lock) error) {
		t.Helper()
		lock, err := store.Lock(t.Context(), key)
		if err != nil {
			t.Fatal(err)
		}
		defer lock.Unlock()
		if err := edit(lock); err != nil {
			t.Fatal(err)
		}
	}
	save := func(lock *Lock) error {
		known, err := lock.Load()
		if known == nil {
			known = &Credential{Key: key}
		}
		return errors.Join(err, lock.Save(known))
	}
	stamps := []Stamp{own.Stamp(key.Server, key.Account)}
	for _, step := range []func(){
		func() { change(own, save) },
		func() { change(own, save) },
		func() { change(other, save) },
		func() { change(other, (*Lock).Delete) },
	} {
		step()
		stamps = append(stamps, own.Stamp(key.Server, key.Account))
	}
	for i := range stamps[1:] {
		if stamps[i] == stamps[i+1] {
			t.Errorf("step %d is not noticed", i)
		}
	}
	change(other, save)
	own.listing.mu.Lock()
	own.listing.since = own.listing.since.Add(-listAge)
	own.listing.mu.Unlock()
	if own.Stamp(key.Server, key.Account) == (Stamp{}) {
		t.Error("a login that another process added is not noticed")
	}
}
