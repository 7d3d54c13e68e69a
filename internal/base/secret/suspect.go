package secret

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
)

var (
	// A name whose last word is one of these names a secret.
	lastWords = []string{
		"auth", "authorization", "bearer", "cookie", "credential", "credentials", "jwt", "key", "apikey", "accesskey",
		"passphrase", "passwd", "password", "pat", "pwd", "secret", "token", "accesstoken", "authtoken", "dsn",
	}
	// So does a name that contains one of these, unless its last word is a plain one.
	anyWords   = []string{"password", "passwd", "secret", "token", "apikey"}
	plainWords = []string{
		"algorithm", "count", "dir", "endpoint", "env", "expiry", "file", "header", "id", "length", "limit", "max", "mode",
		"name", "path", "policy", "provider", "size", "timeout", "ttl", "type", "uri", "url", "username", "user",
	}
	publicWords = []string{"public", "pub", "primary", "sort", "foreign", "partition", "cache"}
)

// IsNamed reports whether the name of a variable, header, flag or parameter is that of a secret.
func IsNamed(name string) bool {
	all := words(name)
	if len(all) == 0 {
		return false
	}
	last := all[len(all)-1]
	if last == "key" && len(all) > 1 && slices.Contains(publicWords, all[len(all)-2]) {
		return false
	}
	if slices.Contains(lastWords, last) {
		return true
	}
	return !slices.Contains(plainWords, last) && slices.ContainsFunc(all, func(word string) bool { return slices.Contains(anyWords, word) })
}

// words splits a name at other characters than letters and digits, and between a lower-case and an upper-case letter.
func words(name string) []string {
	var split strings.Builder
	before := ' '
	for _, r := range name {
		if unicode.IsLower(before) && unicode.IsUpper(r) {
			split.WriteByte(' ')
		}
		split.WriteRune(r)
		before = r
	}
	return strings.FieldsFunc(strings.ToLower(split.String()), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// MayBe reports whether the value of a setting that is named like a secret can be one. Paths and switches cannot.
func MayBe(value string) bool {
	if slices.Contains([]string{"", "0", "1", "true", "false", "yes", "no", "on", "off", "none", "null"}, strings.ToLower(value)) {
		return false
	}
	return !IsPath(value)
}

// Looks reports whether a value is a secret, whatever its name.
func Looks(value string) bool {
	if tokenForm().MatchString(value) || strings.HasPrefix(value, "-----BEGIN ") && strings.Contains(value, "PRIVATE KEY") {
		return true
	}
	return LooksRandom(value) && !strings.ContainsAny(value, " /\\:@.{}")
}

// HasPassword reports whether a value is a URL with a password.
func HasPassword(value string) bool {
	if !strings.Contains(value, "://") {
		return false
	}
	address, err := url.Parse(value)
	if err != nil || address.User == nil {
		return false
	}
	password, ok := address.User.Password()
	return ok && password != ""
}

// Is reports whether a value is a secret, judged by its name or its form.
func Is(name, value string) bool {
	return IsNamed(name) && MayBe(value) || Looks(value) || HasPassword(value)
}
