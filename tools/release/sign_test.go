package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// The checksums can be signed by 'make sign', with a key that minisign made, and a changed file does not verify.
func TestChecksumsCanBeSigned(t *testing.T) {
	if _, err := exec.LookPath("minisign"); err != nil {
		if os.Getenv("CI") != "" {
			t.Fatal("minisign is missing")
		}
		t.Skip("minisign is missing")
	}
	folder := t.TempDir()
	run := func(name string, arguments ...string) error {
		command := exec.Command(name, arguments...)
		command.Dir = folder
		output, err := command.CombinedOutput()
		t.Logf("%s %q: %v\n%s", name, arguments, err, output)
		return err
	}
	checksums, err := os.ReadFile(find(t, "*_checksums.txt"))
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join("dist", "mcp-workbench_1_checksums.txt")
	makefile := filepath.Join(root(t), "Makefile")
	if err := os.Mkdir(filepath.Join(folder, "dist"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, name), checksums, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("minisign", "-G", "-W", "-s", "key", "-p", "key.pub"); err != nil {
		t.Fatal(err)
	}
	if err := run("make", "-f", makefile, "sign", "KEY=key"); err != nil {
		t.Fatal(err)
	}
	if err := run("minisign", "-V", "-p", "key.pub", "-m", name); err != nil {
		t.Error("the signature does not verify")
	}
	if err := os.WriteFile(filepath.Join(folder, name), append(checksums, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run("minisign", "-V", "-p", "key.pub", "-m", name); err == nil {
		t.Error("a changed file verifies")
	}
	if err := run("make", "-f", makefile, "sign"); err == nil {
		t.Error("signing without a key does not fail")
	}
}
