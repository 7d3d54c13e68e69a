package audit

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/safefile"
	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// writer writes the lines of one process. Its goroutine alone uses it.
type writer struct {
	log *Log

	file   file // nil: none is open
	number int
	size   int64
	begun  time.Time // when the file was begun
	tail   tail
	cut    head // the end of the chain as this process left it, if the file ends before it now

	presence presence
}

// run writes until the log is closed.
func (w *writer) run() {
	l := w.log
	defer close(l.done)
	defer w.release()
	seals := time.NewTicker(sealTime)
	defer seals.Stop()
	summaries := time.NewTicker(refusalTime)
	defer summaries.Stop()
	for isOver := false; !isOver; {
		var retry <-chan time.Time
		if l.failing.Load() != nil {
			retry = time.After(retryTime)
		}
		isSealDue := false
		select {
		case <-l.wake:
			if w.presence.isThere() || l.failing.Load() != nil { // the first lines are written at once, so that the log says if this process is killed
				isOver = w.gather()
			}
		case <-l.urgent:
		case <-retry:
		case <-summaries.C:
			l.addSummary()
			continue
		case <-seals.C:
			isSealDue = true
		case <-l.stop:
			isOver = true
		}
		for w.writeNext(isSealDue, isOver && !l.hasMoreThan(maxBatch)) && l.hasMoreThan(0) {
			isSealDue = false
		}
	}
}

// gather waits a little for more lines, unless somebody waits for those that are there.
func (w *writer) gather() (isOver bool) {
	timer := time.NewTimer(flushDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-w.log.urgent:
	case <-w.log.stop:
		return true
	}
	return false
}

// writeNext writes the next lines; it returns false if that failed.
func (w *writer) writeNext(isSealDue, isLast bool) bool {
	l := w.log
	batch, lost := l.take()
	isIdle := len(batch) == 0 && lost == 0 && !isSealDue && !isLast && l.failing.Load() == nil
	if isIdle || !l.hasBegun() {
		return true
	}
	err := w.write(batch, lost, isSealDue, isLast)
	if err != nil {
		w.close()
		l.giveBack(lost + uint64(len(batch)))
		if l.failing.Swap(&failure{err}) == nil {
			l.options.Log.Error("the audit log cannot be written", "folder", l.options.Folder, "required", l.options.Required, "reason", err)
		}
	} else if l.failing.Swap(nil) != nil {
		l.options.Log.Warn("the audit log can be written again", "folder", l.options.Folder)
	}
	for _, one := range batch {
		if one.ack != nil {
			one.ack <- err
		}
	}
	return err == nil
}

// write writes lines under the lock of all processes, and syncs them. On an error nothing counts as written.
func (w *writer) write(batch []item, lost uint64, isSealDue, isLast bool) error {
	o := &w.log.options
	if err := safefile.MakeFolder(o.Folder); err != nil {
		return err
	}
	unlock, err := safefile.Lock(context.Background(), filepath.Join(o.Folder, lockName), lockWait)
	if err != nil {
		return err
	}
	defer unlock()
	known := w.log.keys.Load()
	if known == nil {
		if known, err = loadKeys(o.Keys); err != nil {
			return err
		}
		w.log.keys.Store(known)
	}
	isFirst := w.file == nil
	if err := w.catchUp(); err != nil {
		return err
	}
	isFirst = isFirst || w.cut.Seq > 0 // a seal vouches that this process says so
	if err := w.rotateIfDue(known); err != nil {
		return err
	}
	c := composer{head: w.tail.head, writer: w.log.writer, isSealed: w.tail.seal, isFirst: w.size == 0}
	w.explainStart(&c, lost)
	now := time.Now()
	var others, expired []item
	if !o.isBrief {
		if others, err = w.presence.enter(o.Folder, w.log.writer); err != nil {
			return err
		}
		expired = w.expired(now) // only a seal of the same time makes these lines count; see verifier.confirm
		others = append(others, expired...)
	}
	for _, one := range append(others, batch...) {
		c.add(one.at, one.body)
	}
	if (isSealDue || isLast || isFirst || len(expired) > 0) && !c.isSealed {
		c.seal(now, known)
	}
	if err := w.append(&c); err != nil {
		return err
	}
	for _, one := range others {
		if one.then != nil {
			one.then()
		}
	}
	if c.isSealed && len(c.text) > 0 {
		o.Log.Info("the audit log was sealed", "seq", c.head.Seq, "head", c.head.Hash.String(), "key", hex.EncodeToString(known.public()))
	}
	return nil
}

// explainStart adds what the next lines need to be understood.
func (w *writer) explainStart(c *composer, lost uint64) {
	now := time.Now()
	if w.tail.open {
		c.text = append(c.text, '\n')
	}
	if w.tail.bad > 0 {
		c.add(now, newFields(eventLog, "torn").number("count", int64(w.tail.bad)))
	}
	if w.cut.Seq > 0 {
		c.add(now, newFields(eventLog, "cut").number("through", int64(w.cut.Seq)).hexadecimal("head", w.cut.Hash[:]))
	}
	if lost > 0 {
		c.add(now, newFields(eventLost, "").number("count", int64(lost)))
	}
}

// append writes and syncs lines. If that fails, the file is cut back to what it was.
func (w *writer) append(c *composer) error {
	if len(c.text) == 0 {
		return nil
	}
	_, err := w.file.Write(c.text)
	if err == nil {
		err = w.file.Sync()
	}
	if err != nil {
		return errors.Join(err, w.file.Truncate(w.size)) // what cannot be cut off is explained by the next lines
	}
	w.size += int64(len(c.text))
	w.tail = tail{head: c.head, isSet: true, seal: c.isSealed}
	w.cut = head{}
	return nil
}

// catchUp finds the end of the chain, which other processes may have moved.
func (w *writer) catchUp() error {
	o := &w.log.options
	before := w.tail.head
	if w.file != nil {
		info, err := w.file.Stat()
		onDisk, diskErr := os.Stat(o.path(w.number))
		_, nextErr := os.Stat(o.path(w.number + 1))
		isSame := err == nil && diskErr == nil && os.SameFile(info, onDisk) && nextErr != nil
		if isSame && info.Size() == w.size {
			return nil
		}
		w.close()
	}
	if err := w.openLast(); err != nil {
		return err
	}
	if w.tail.head.Seq < before.Seq {
		w.cut = before
		o.Log.Error("lines of the audit log are gone that were there before", "folder", o.Folder, "seq", before.Seq, "head", before.Hash.String())
	}
	return nil
}

// openLast opens the last file, and makes the first.
func (w *writer) openLast() error {
	o := &w.log.options
	numbers, err := listFiles(o.Folder)
	if err != nil {
		return err
	}
	if len(numbers) == 0 {
		return w.begin(1, tail{})
	}
	var last tail
	for i := len(numbers) - 1; i >= 0; i-- {
		f, err := o.open(o.path(numbers[i]), false)
		if err != nil {
			return err
		}
		info, err := f.Stat()
		var found tail
		if err == nil {
			err = stored.Audit.Check(o.path(numbers[i]), firstLine(f))
		}
		if err == nil {
			found, err = readTail(f, info.Size())
		}
		if stored.IsNewer(err) {
			_ = f.Close() // it was only read
			return err
		}
		if err != nil {
			_ = f.Close() // it was only read
			return fmt.Errorf("%s: %w", o.path(numbers[i]), err)
		}
		if i == len(numbers)-1 {
			w.file, w.number, w.size, w.begun, last = f, numbers[i], info.Size(), firstTime(f), found
		} else {
			_ = f.Close() // it was only read
			last.head.Seq = found.head.Seq
			if last.bad == 0 {
				last.head.Hash, last.seal = found.head.Hash, found.seal
			}
		}
		if found.isSet {
			break
		}
	}
	w.tail = last
	return nil
}

// begin makes a new file, which continues after the tail.
func (w *writer) begin(number int, after tail) error {
	o := &w.log.options
	f, err := o.open(o.path(number), true)
	if err != nil {
		return err
	}
	w.close()
	w.file, w.number, w.size, w.begun, w.tail = f, number, 0, time.Now(), after
	return safefile.SyncFolder(o.Folder)
}

// rotateIfDue seals the file and begins the next one, if it is large or old.
func (w *writer) rotateIfDue(known *keys) error {
	now := time.Now()
	isOld := !w.begun.IsZero() && now.Sub(w.begun) > maxFileAge
	if w.size == 0 || w.size < w.log.options.maxFile && !isOld {
		return nil
	}
	c := composer{head: w.tail.head, writer: w.log.writer, isSealed: w.tail.seal}
	w.explainStart(&c, 0)
	if !c.isSealed {
		c.seal(now, known)
	}
	if err := w.append(&c); err != nil {
		return err
	}
	return w.begin(w.number+1, w.tail)
}

// expired returns lines that say which files are removed, and remove them.
func (w *writer) expired(now time.Time) (lines []item) {
	o := &w.log.options
	if o.Keep <= 0 {
		return nil
	}
	numbers, _ := listFiles(o.Folder) // it was read before
	for _, number := range numbers {
		path := o.path(number)
		info, err := os.Stat(path)
		if number == w.number || err != nil || now.Sub(info.ModTime()) < o.Keep {
			break // later ones are younger
		}
		f, err := o.open(path, false)
		if err != nil {
			break
		}
		last, err := readTail(f, info.Size())
		_ = f.Close() // it was only read
		if err != nil || !last.isSet {
			break
		}
		lines = append(lines, item{
			at:   now,
			body: newFields(eventLog, "removed").text("file", fileName(number)).number("through", int64(last.head.Seq)).hexadecimal("head", last.head.Hash[:]),
			then: func() { _ = os.Remove(path) }, // the next start tries again
		})
	}
	return lines
}

func (w *writer) close() {
	if w.file != nil {
		_ = w.file.Close() // everything that counts was synced
		w.file = nil
	}
}

// release ends the presence of this process.
func (w *writer) release() {
	w.close()
	w.presence.leave(w.log.Failing() == nil)
}
