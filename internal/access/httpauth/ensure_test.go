package httpauth

import (
	"path/filepath"
	"testing"
)

func TestEnsureToken(t *testing.T) {
	store, err := Open(filepath.Join(t.TempDir(), "state", FileName))
	if err != nil {
		t.Fatal(err)
	}
	token, created, err := store.EnsureDefault()
	if err != nil || !created {
		t.Fatalf("created %v, %v", created, err)
	}
	if who, ok := store.Verify(token); !ok || who.Name != "default" || who.Toolboxes != nil {
		t.Errorf("the token is %+v, %v", who, ok)
	}
	if token, created, err := store.EnsureDefault(); token != "" || created || err != nil {
		t.Errorf("a second one was made: %v, %v", created, err)
	}
}
