package linediff

import (
	"testing"

	"github.com/aymanbagabas/go-udiff"
	"github.com/google/go-cmp/cmp"
)

func TestUnified(t *testing.T) {
	long := "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\nk\nl\nm\nn"
	const entry = "{\n \"a\": {\n  \"x\": 1\n },\n \"b\": {\n  \"x\": 1\n }\n}\n"
	tests := []struct{ name, before, after, want string }{
		{"two hunks, and a line end that was missing", long, "a\nB" + long[3:] + "\n", `--- f
+++ f
@@ -1,5 +1,5 @@
 a
-b
+B
 c
 d
 e
@@ -11,4 +11,4 @@
 k
 l
 m
-n
\ No newline at end of file
+n
`},
		{"a second hunk after several edits in the first", long, "a\nB\nc\nd\nnew\n" + long[8:len(long)-1] + "N", `--- f
+++ f
@@ -1,7 +1,8 @@
 a
-b
+B
 c
 d
+new
 e
 f
 g
@@ -11,4 +12,4 @@
 k
 l
 m
-n
\ No newline at end of file
+N
\ No newline at end of file
`},
		{"the same", long, long, ""},
		{"insertions and a deletion", "a\nb\nc\n", "n\na\nc\nd\n", "--- f\n+++ f\n@@ -1,3 +1,4 @@\n+n\n a\n-b\n c\n+d\n"},
		{"a deletion at the last possible place", "x\nx\nx\ny\n", "x\ny\n", "--- f\n+++ f\n@@ -1,4 +1,2 @@\n x\n-x\n-x\n y\n"},
		{"an insertion at the last possible place", "x\ny\n", "x\nx\ny\n", "--- f\n+++ f\n@@ -1,2 +1,3 @@\n x\n+x\n y\n"},
		{"a member with its own closing brace", entry, entry[:23] + " \"n\": {\n  \"x\": 1\n },\n" + entry[23:], "--- f\n+++ f\n@@ -2,6 +2,9 @@\n  \"a\": {\n   \"x\": 1\n  },\n+ \"n\": {\n+  \"x\": 1\n+ },\n  \"b\": {\n   \"x\": 1\n  }\n"},
		{"line ends of Windows", "a\r\nb\r\n", "a\r\nc\r\n", "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"all lines go", "a\n", "", "--- f\n+++ f\n@@ -1 +0,0 @@\n-a\n"},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, Unified("f", []byte(test.before), []byte(test.after))); diff != "" {
			t.Errorf("%s: %s", test.name, diff)
		}
	}
	if got, want := Unified("f", nil, []byte("x\ny\n")), "--- /dev/null\n+++ f\n@@ -0,0 +1,2 @@\n+x\n+y\n"; got != want {
		t.Errorf("of a new file: %s", got)
	}
	if got, want := Unified("f", []byte("x\n"), nil), "--- f\n+++ /dev/null\n@@ -1 +0,0 @@\n-x\n"; got != want {
		t.Errorf("of a deleted file: %s", got)
	}
}

func TestMerge(t *testing.T) {
	for _, test := range []struct {
		name, base, changed, now, want string
		ok                             bool
	}{
		{"both in other places", "a\nb\nc\nd\ne\n", "a\nc\nd\ne\n", "a\nb\nc\nd\nx\n", "a\nc\nd\nx\n", true},
		{"a line comes back", "a\nc\nd\n", "a\nb\nc\nd\n", "a\nc\nd\ne\n", "a\nb\nc\nd\ne\n", true},
		{"only one", "a\nb\n", "a\n", "a\nb\n", "a\n", true},
		{"the same line", "a\nb\nc\n", "a\nx\nc\n", "a\ny\nc\n", "", false},
		{"lines side by side", "a\nb\nc\nd\n", "a\nx\nc\nd\n", "a\nb\ny\nd\n", "", false},
		{"at one place", "a\n", "a\nx\n", "a\ny\n", "", false},
		{"nothing", "", "", "", "", true},
	} {
		got, ok := Merge([]byte(test.base), []byte(test.changed), []byte(test.now))
		if string(got) != test.want || ok != test.ok {
			t.Errorf("%s: %q, %v", test.name, got, ok)
		}
	}
}

func FuzzEdits(f *testing.F) {
	f.Add("a\nb\nc\n", "a\nc\nd")
	f.Add("", "x")
	f.Add("x\nx\ny\nx", "x\ny\nx\nx\n")
	f.Fuzz(func(t *testing.T, before, after string) {
		got, err := udiff.Apply(before, edits([]byte(before), []byte(after)))
		if err != nil || got != after {
			t.Fatalf("%q to %q: got %q, %v", before, after, got, err)
		}
		if (Unified("f", []byte(before), []byte(after)) == "") != (before == after) {
			t.Fatal("a diff is shown where there is none, or the other way round")
		}
	})
}
