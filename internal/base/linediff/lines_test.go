package linediff

import (
	"fmt"
	"strings"
	"testing"
)

func TestLines(t *testing.T) {
	long := func(changed string) string {
		lines := make([]string, 20)
		for i := range lines {
			lines[i] = fmt.Sprint(i)
		}
		lines[10] = changed
		return strings.Join(lines, "\n") + "\n"
	}
	for _, test := range []struct{ name, before, after, want string }{
		{"nothing", "", "", ""},
		{"the same", "a\nb\n", "a\nb\n", "@2"},
		{"all new", "", "a\nb\n", "+a|+b"},
		{"all gone", "a\n", "", "-a"},
		{"one line", long("x"), long("y"), "@7| 7| 8| 9|-x|+y| 11| 12| 13|@6"},
		{"at the end", "a\n", "a\nb\n", " a|+b"},
	} {
		var got []string
		for _, line := range Lines([]byte(test.before), []byte(test.after)) {
			if line.Op == Skipped {
				line.Text = fmt.Sprint(line.Count)
			}
			got = append(got, string(rune(line.Op))+line.Text)
		}
		if text := strings.Join(got, "|"); text != test.want {
			t.Errorf("%s: %s, want %s", test.name, text, test.want)
		}
	}
}
