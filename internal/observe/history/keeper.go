package history

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"
)

const (
	writePause = 100 * time.Millisecond // between two writes, so that many calls are written at once
	cleanPause = time.Hour              // between two removals of old files
	closeTime  = time.Second            // for the last write; records that are not written then are lost
)

// Keeper writes the calls of a history to files, in the background. The history itself is the queue: calls that it
// forgets before they are written are lost, and counted.
type Keeper struct {
	history *History
	files   *files
	log     *slog.Logger
	cancel  context.CancelFunc
	done    chan struct{}
}

// Keep begins to write the calls from now on to files of a folder, which are removed when they are as old as keep.
// started identifies this workbench, with its process id. Close the keeper.
func (h *History) Keep(folder string, keep time.Duration, started time.Time, log *slog.Logger) *Keeper {
	ctx, cancel := context.WithCancel(context.Background())
	k := &Keeper{
		history: h, files: &files{folder: folder, keep: keep, owner: Owner{h.pid, started.UnixMilli()}}, log: log,
		cancel: cancel, done: make(chan struct{}),
	}
	go k.run(ctx, h.Last())
	return k
}

// Close writes what is not written yet.
func (k *Keeper) Close(ctx context.Context) error {
	k.cancel()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeTime)
	defer cancel()
	select {
	case <-k.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (k *Keeper) run(ctx context.Context, after uint64) {
	defer close(k.done)
	defer k.files.close()
	k.clean()
	cleaning := time.NewTicker(cleanPause)
	defer cleaning.Stop()
	pause := time.NewTimer(writePause)
	defer pause.Stop()
	for {
		var more <-chan struct{}
		after, more = k.write(after)
		select {
		case <-ctx.Done():
			k.write(after)
			return
		case <-cleaning.C:
			k.clean()
			continue
		case <-more:
		}
		pause.Reset(writePause)
		select {
		case <-pause.C:
		case <-ctx.Done():
		}
	}
}

// write writes all calls after a number. It returns the number of the last, and what is closed with the next.
func (k *Keeper) write(after uint64) (last uint64, more <-chan struct{}) {
	for {
		var records []Record
		records, after, more = k.history.Read(after)
		if len(records) == 0 {
			return after, more
		}
		records[0].Lost += k.files.lost
		var lines []byte
		for i := range records {
			line, err := json.Marshal(&records[i])
			if err != nil {
				panic(err) // texts and numbers only
			}
			lines = append(append(lines, line...), '\n')
		}
		if err := k.files.write(lines, time.Now()); err != nil {
			if k.files.lost == 0 {
				k.log.Warn("the history of calls cannot be written; calls are missing in it until it can", "reason", err)
			}
			k.files.lost = records[0].Lost + uint64(len(records))
			continue
		}
		k.files.lost = 0
	}
}

func (k *Keeper) clean() {
	if err := k.files.clean(time.Now()); err != nil {
		k.log.Warn("old files of the history of calls cannot be removed", "reason", err)
	}
}
