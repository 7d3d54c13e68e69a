package formats

import (
	"os"
	"testing"
)

// The keyring of these tests is in memory, and is used only where there is a session bus.
func TestMain(m *testing.M) {
	if err := os.Setenv("DBUS_SESSION_BUS_ADDRESS", "unix:path=/none"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}
