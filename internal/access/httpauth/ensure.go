package httpauth

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// DefaultToken is the name of the token that EnsureDefault creates.
const DefaultToken = "default"

// EnsureDefault creates a token named default with access to everything, if there is no token at all.
func (s *Store) EnsureDefault() (token string, created bool, err error) {
	if len(s.List()) > 0 {
		return "", false, nil
	}
	token, err = s.Create(Grant{Name: DefaultToken})
	return token, err == nil, err
}

// ParseLifetime parses the value of --expires, such as 90d, 12h or 30m.
func ParseLifetime(text string) (time.Duration, error) {
	days, isDays := strings.CutSuffix(text, "d")
	if n, err := strconv.Atoi(days); isDays && err == nil && n > 0 && n <= maxLifetimeDays {
		return time.Duration(n) * 24 * time.Hour, nil
	}
	if lifetime, err := time.ParseDuration(text); err == nil && lifetime >= time.Second && lifetime <= maxLifetimeDays*24*time.Hour {
		return lifetime, nil
	}
	return 0, fmt.Errorf("--expires needs a time such as 12h or 90d, not '%.50s'", text)
}

const maxLifetimeDays = 36_500 // days that a token can be valid
