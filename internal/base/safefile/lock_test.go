package safefile

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "lock")
	synctest.Test(t, func(t *testing.T) {
		release, err := Lock(t.Context(), path, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		if _, err := Lock(t.Context(), path, time.Second); !errors.Is(err, ErrLocked) || time.Since(start) != time.Second {
			t.Errorf("taking it twice: %v after %v", err, time.Since(start))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := Lock(ctx, path, time.Second); !errors.Is(err, context.Canceled) {
			t.Errorf("giving up: %v", err)
		}
		time.AfterFunc(time.Second/2, release)
		release, err = Lock(t.Context(), path, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		release()
	})
	if info, err := os.Stat(path); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("the lock's file: %v, %v", info, err)
	}
}

func TestLockWithoutFolder(t *testing.T) {
	if _, err := Lock(t.Context(), filepath.Join(t.TempDir(), "no", "lock"), time.Second); err == nil {
		t.Error("a lock was taken in a folder that does not exist")
	}
}
