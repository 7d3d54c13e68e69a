package toolbox

import (
	"regexp"
	"strings"
	"testing"
)

var acceptable = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

func TestNativeName(t *testing.T) {
	long := strings.Repeat("long", 20)
	for _, test := range []struct {
		name string
		ref  Ref
		want string
	}{
		{"plain", Ref{"dev", "filesystem", "read_file"}, "dev__filesystem__read_file"},
		{"all characters", Ref{"A-z_0", "B-y_1", "C-x_2"}, "A-z_0__B-y_1__C-x_2"},
		{"separator in the tool", Ref{"dev", "server", "tool__with__extras"}, "dev__server__tool__with__extras"},
		{"64 bytes", Ref{"t", "s", strings.Repeat("x", 58)}, "t__s__" + strings.Repeat("x", 58)},
		// Short forms must be the same on every machine and in every version (SHA-256 of the full name).
		{"65 bytes", Ref{"t", "s", strings.Repeat("x", 59)}, "t__s__" + strings.Repeat("x", 49) + "_334f5b2b"},
		{"long", Ref{"dev", "server", long}, "dev__server__" + long[:42] + "_cf417d83"},
		{"dot", Ref{"dev", "server", "x.y"}, "dev__server__x_y_f5a3263e"},
		{"space and slash", Ref{"my box", "a/b", "t"}, "my_box__a_b__t_cf418741"},
		{"not ASCII", Ref{"dev", "server", "größe"}, "dev__server__gr__e_81db063b"},
		{"not UTF-8", Ref{"dev", "server", "\xff"}, "dev__server____6252fcb7"},
		{"long and not ASCII", Ref{"dev", "server", strings.Repeat("ü", 40)}, "dev__server__" + strings.Repeat("_", 40) + "_22663653"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := test.ref.NativeName()
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
			if !acceptable.MatchString(got) {
				t.Errorf("clients refuse %q", got)
			}
		})
	}
}

func TestNativeNamesDiffer(t *testing.T) {
	long := strings.Repeat("x", 100)
	seen := make(map[string]Ref)
	for _, ref := range []Ref{
		{"a", "b", "c"},
		{"a", "b", "C"},
		{"A", "b", "c"},
		{"b", "a", "c"},
		{"a", "c", "b"},
		// All of these look the same once shortened or with foreign characters replaced.
		{"a", "b", "c.d"},
		{"a", "b", "c d"},
		{"a", "b", "c/d"},
		{"a", "b", "c_d"},
		{"a", "b.c", "d"},
		{"a.b", "c", "d"},
		{"a", "b", long},
		{"a", "b", long + "x"},
		{"a", "b", long + "y"},
		{"a", "b", "y" + long},
		{"a", "b", "ä"},
		{"a", "b", "ö"},
		{"a", "b", "äö"},
	} {
		name := ref.NativeName()
		if other, exists := seen[name]; exists {
			t.Errorf("%v and %v are both named %q", ref, other, name)
		}
		seen[name] = ref
	}
}

func TestParseNativeName(t *testing.T) {
	for _, test := range []struct {
		name string
		want Ref
		ok   bool
	}{
		{"dev__filesystem__read_file", Ref{"dev", "filesystem", "read_file"}, true},
		{"dev__server__tool__with__extras", Ref{"dev", "server", "tool__with__extras"}, true},
		{"a__b__c__", Ref{"a", "b", "c__"}, true},
		{"a_b__c_d__e_f", Ref{"a_b", "c_d", "e_f"}, true},
		{"a__b___c", Ref{"a", "b", "_c"}, true},
		{"x.y__größe__z z", Ref{"x.y", "größe", "z z"}, true},
		{"dev__filesystem_read_file", Ref{}, false},
		{"dev_filesystem__read_file", Ref{}, false},
		{"read_file", Ref{}, false},
		{"", Ref{}, false},
		{"__", Ref{}, false},
		{"____", Ref{}, false},
		{"__b__c", Ref{}, false},
		{"a____c", Ref{}, false},
		{"a__b__", Ref{}, false},
	} {
		if got, ok := ParseNativeName(test.name); got != test.want || ok != test.ok {
			t.Errorf("%q: %+v %t, want %+v %t", test.name, got, ok, test.want, test.ok)
		}
	}
	// What is not short comes back.
	for _, ref := range []Ref{{"dev", "fs", "read"}, {"d", "s", "a__b"}, {"_d", "_s", "_t_"}} {
		if got, ok := ParseNativeName(ref.NativeName()); !ok || got != ref {
			t.Errorf("%+v became %+v", ref, got)
		}
	}
}
