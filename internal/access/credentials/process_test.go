package credentials

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// Environment of a test program that plays another process.
const (
	roleVariable   = "TEST_CREDENTIALS_ROLE"
	folderVariable = "TEST_CREDENTIALS_FOLDER"
	keyVariable    = "TEST_CREDENTIALS_KEY_FILE"
)

const increments = 20 // by each process or goroutine that counts

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		if err := play(role, storeOfProcess(os.Getenv(folderVariable), os.Getenv(keyVariable))); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	goleak.VerifyTestMain(m)
}

func storeOfProcess(folder, keyFile string) *Store {
	if keyFile == "" {
		return Open(folder, Options{})
	}
	return Open(folder, Options{Seal: SealOptions{Seal: "file", KeyFile: keyFile}})
}

func play(role string, s *Store) error {
	switch role {
	case "hold":
		if _, err := s.Lock(context.Background(), testKey); err != nil {
			return err
		}
		fmt.Println("locked")
		_, err := io.Copy(io.Discard, os.Stdin) // until killed
		return err
	case "count":
		return count(s)
	case "save":
		return saveForever(s)
	}
	return fmt.Errorf("unknown role %q", role)
}

// count adds to the number in a login, again and again.
func count(s *Store) error {
	for range increments {
		l, err := s.Lock(context.Background(), testKey)
		if err != nil {
			return err
		}
		c, err := l.Load()
		if err == nil {
			n, _ := strconv.Atoi(c.Access)
			c.Access = strconv.Itoa(n + 1)
			err = l.Save(c)
		}
		l.Unlock()
		if err != nil {
			return err
		}
	}
	return nil
}

// saveForever saves logins of all sizes whose parts fit together, and says so after each.
func saveForever(s *Store) error {
	for {
		l, err := s.Lock(context.Background(), testKey)
		if err != nil {
			return err
		}
		c, err := l.Load()
		if err != nil {
			return err
		}
		if c == nil {
			c = &Credential{Key: testKey}
		}
		c.Access = strings.Repeat(strconv.Itoa(rand.IntN(1000)), 1+rand.IntN(20_000))
		c.Refresh = c.Access
		if err := l.Save(c); err != nil {
			return err
		}
		l.Unlock()
		fmt.Println(c.Generation)
	}
}

// start starts a process with a role. It is killed at the latest when the test ends.
func start(t *testing.T, role string, s *Store) (*exec.Cmd, *bufio.Reader) {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Args[0])
	command.Env = append(os.Environ(), roleVariable+"="+role, folderVariable+"="+s.folder, keyVariable+"="+s.keys.options.KeyFile)
	command.Stderr = os.Stderr
	stdin, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdin.Close() })
	stdout, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	return command, bufio.NewReader(stdout)
}

// kill ends a process as kill -9 does.
func kill(t *testing.T, command *exec.Cmd) {
	t.Helper()
	if err := command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = command.Wait() // it was killed
}

func TestLockEndsWithItsProcess(t *testing.T) {
	s := newStore(t)
	holder, output := start(t, "hold", s)
	if line, err := output.ReadString('\n'); line != "locked\n" {
		t.Fatalf("%q, %v", line, err)
	}
	short, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if l, err := s.Lock(short, testKey); err == nil {
		l.Unlock()
		t.Error("two processes have the lock")
	}
	waiting := make(chan error)
	go func() {
		l, err := s.Lock(t.Context(), testKey)
		if err == nil {
			err = l.Save(full(testKey))
			l.Unlock()
		}
		waiting <- err
	}()
	kill(t, holder)
	if err := <-waiting; err != nil {
		t.Errorf("after the holder was killed: %v", err)
	}
}

func TestProcessesAndGoroutinesTakeTurns(t *testing.T) {
	const processes, goroutines = 4, 4
	s := newStore(t)
	save(t, s, &Credential{Key: testKey, Access: "0"})
	var group sync.WaitGroup
	for range processes {
		command, _ := start(t, "count", s)
		group.Go(func() {
			if err := command.Wait(); err != nil {
				t.Errorf("a process that counts: %v", err)
			}
		})
	}
	for range goroutines {
		group.Go(func() {
			if err := count(s); err != nil {
				t.Errorf("a goroutine that counts: %v", err)
			}
		})
	}
	group.Wait()
	c, err := s.Load(testKey)
	if err != nil || c.Access != strconv.Itoa((processes+goroutines)*increments) {
		t.Errorf("counted to %s, %v", c.Access, err)
	}
}

// A process that is killed at any point leaves the old file or the new one.
func TestKilledWhileSaving(t *testing.T) {
	for _, name := range []string{"plain", "sealed"} {
		t.Run(name, func(t *testing.T) {
			folder, keyFile := Folder(t.TempDir()), ""
			if name == "sealed" {
				keyFile = writeKey(t, 0o600, testKeyText(1))
			}
			s := storeOfProcess(folder, keyFile)
			var last uint64 // generation that the killed process has told
			for range 15 {
				command, output := start(t, "save", s)
				for range 1 + rand.IntN(4) {
					line, err := output.ReadString('\n')
					told, wrong := strconv.ParseUint(strings.TrimSpace(line), 10, 64)
					if err != nil || wrong != nil || last != 0 && told <= last {
						t.Fatalf("%q after %d, %v, %v", line, last, err, wrong)
					}
					last = told
				}
				<-time.After(time.Duration(rand.IntN(int(3 * time.Millisecond)))) // somewhere within the next saves
				kill(t, command)
				c, err := s.Load(testKey)
				if err != nil || c == nil || c.Access != c.Refresh || c.Generation < last {
					t.Fatalf("after a kill: %v, %v, want at least generation %d", c, err, last)
				}
				last = c.Generation
			}
			lock(t, s, testKey).Unlock()
			assertFiles(t, s, nameOf(testKey), strings.TrimSuffix(nameOf(testKey), suffix)+lockSuffix)
		})
	}
}

// assertFiles checks which files the folder of a store holds.
func assertFiles(t *testing.T, s *Store, want ...string) {
	t.Helper()
	entries, err := os.ReadDir(s.folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range entries {
		got = append(got, entry.Name())
	}
	if strings.Join(got, " ") != strings.Join(want, " ") {
		t.Errorf("the folder holds %v, want %v", got, want)
	}
}
