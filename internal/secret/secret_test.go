package secret

import "testing"

func TestMask(t *testing.T) {
	masker := NewMasker([]string{"hunter2hunter2", "hunter2hunter2-longer", `quo"ted\value`, "a b&c/d=e+f", ""})
	for _, test := range []struct{ name, text, want string }{
		{"plain", "login with hunter2hunter2 failed", "login with [hidden] failed"},
		{"longest wins", "hunter2hunter2-longer", "[hidden]"},
		{"several", "hunter2hunter2 hunter2hunter2", "[hidden] [hidden]"},
		{"as it is", `got quo"ted\value here`, "got [hidden] here"},
		{"inside JSON", `{"token":"quo\"ted\\value"}`, `{"token":"[hidden]"}`},
		{"in a query", "https://host/?token=a+b%26c%2Fd%3De%2Bf", "https://host/?token=[hidden]"},
		{"in a path", "https://host/a%20b&c%2Fd=e+f/x", "https://host/[hidden]/x"},
		{"nothing to hide", "hunter2", "hunter2"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := masker.Mask(test.text); got != test.want {
				t.Errorf("Mask(%q) = %q, want %q", test.text, got, test.want)
			}
		})
	}
}

func TestMaskWithoutSecrets(t *testing.T) {
	for name, masker := range map[string]*Masker{"nil": nil, "empty": NewMasker(nil), "blank": NewMasker([]string{""})} {
		if got := masker.Mask("as it is"); got != "as it is" {
			t.Errorf("%s masker changed the text to %q", name, got)
		}
	}
}
