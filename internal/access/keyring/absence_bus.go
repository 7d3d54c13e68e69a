//go:build unix && !darwin

package keyring

import (
	"errors"
	"fmt"
	"os"
)

// Absence returns why there is no keyring to ask; nil if there may be one. Without a session bus the library would start one, which
// nobody would stop.
func Absence(getenv func(string) string) error {
	if getenv("DBUS_SESSION_BUS_ADDRESS") == "disabled:" { // as GLib has it
		return errors.New("the session bus is disabled (DBUS_SESSION_BUS_ADDRESS)")
	}
	if address := getenv("DBUS_SESSION_BUS_ADDRESS"); address != "" && address != "autolaunch:" {
		return nil
	}
	for _, name := range []string{"bus", "dbus-session"} {
		if _, err := os.Stat(fmt.Sprintf("/run/user/%d/%s", os.Getuid(), name)); err == nil {
			return nil
		}
	}
	return errors.New("there is no session bus (DBUS_SESSION_BUS_ADDRESS is not set)")
}
