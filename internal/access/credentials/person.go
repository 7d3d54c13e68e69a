package credentials

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"strings"
)

// Accounts that no configuration can name, since they have a blank.
const (
	// SharedAccount is what the registration of the workbench is kept under where each person has an account of their own. It
	// never has tokens.
	SharedAccount = "all people"

	personPrefix = "person "
)

// PersonAccount returns the account of one person, where each has their own. It is the same for a person at all times, and
// tells nothing of them. The subject alone would not do: only with its issuer it names one person.
func PersonAccount(issuer, subject string) string {
	hash := sha256.New()
	for _, part := range []string{issuer, subject} {
		_ = binary.Write(hash, binary.BigEndian, uint64(len(part))) // a hash takes everything
		hash.Write([]byte(part))
	}
	return personPrefix + hex.EncodeToString(hash.Sum(nil))
}

// IsPersonal reports whether an account is that of one person, or what all people share.
func IsPersonal(account string) bool {
	return account == SharedAccount || strings.HasPrefix(account, personPrefix)
}

// People returns the accounts of people with a login to a server, dead ones included, without repetition. Those that can be
// read are returned along with an error about the others.
func (s *Store) People(server string) (accounts []string, err error) {
	all, err := s.All()
	known := make(map[string]bool)
	for _, one := range all {
		if one.Server == server && strings.HasPrefix(one.Account, personPrefix) && !known[one.Account] {
			known[one.Account] = true
			accounts = append(accounts, one.Account)
		}
	}
	return accounts, err
}
