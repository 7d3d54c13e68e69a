package wire

import (
	"bytes"
	"cmp"
	"slices"
	"sync"
	"sync/atomic"
	"unicode/utf8"
)

// Forms are how requests of a peer were written, so that those to come are recognized: of a
// call, nearly all bytes are those of a call before. They were looked through then, and where
// they are the same, they mean the same; only what differs has to be looked at. The zero value
// is ready. It is safe for concurrent use.
type Forms struct {
	known atomic.Pointer[[]*form] // what it points to is never changed
	mu    sync.Mutex              // held to replace it
	turn  int                     // which one is replaced next
	// strange counts requests that could be learnt and were not. A peer that always writes
	// something else must not have all of it learnt.
	strange atomic.Int32
}

// Limits of what is learnt of a peer.
const (
	maxForms    = 4
	maxFormSize = 1024 // bytes that are the same
	maxSlots    = 3    // of what differs, with the id
	// strangers is how many requests that are not known make room for another form.
	strangers = 32
)

// form is how a request was written.
type form struct {
	fixed   []string // before, between and behind the slots
	slots   []int    // in the order in which they stand
	method  []byte
	params  [2]place // where they begin and end
	meaning any
}

// idSlot is the slot of the id. Those that Learn is given come before it.
const idSlot = maxSlots - 1

// place is one in the fixed texts.
type place struct{ text, offset int }

// recognized is what is known of a message that has the form of another one.
type recognized struct {
	form  *form
	slots [maxSlots]span
}

type span struct{ start, end int }

// Parse is wire.Parse for a message of the peer.
func (f *Forms) Parse(frame Frame) (message Message, err error) {
	if known := f.known.Load(); known != nil {
		for _, form := range *known {
			if form.fits(frame) && form.read(frame, &message) {
				return message, nil
			}
		}
	}
	message, err = Parse(frame)
	message.peer = f
	return message, err
}

// fits reports whether a message may have this form.
func (f *form) fits(frame Frame) bool {
	data := frame.Bytes()
	first, last := f.fixed[0], f.fixed[len(f.slots)]
	return len(data) > len(first)+len(last) && string(data[:len(first)]) == first && string(data[len(data)-len(last):]) == last
}

// read reads a message that fits, and reports whether it has this form.
func (f *form) read(frame Frame, m *Message) bool {
	*m = Message{Method: f.method, Params: Payload{buf: frame.buf}, Size: len(frame.buf) - frame.start, as: recognized{form: f}}
	data, at := frame.buf, frame.start
	for i, text := range f.fixed {
		if len(data)-at < len(text) || string(data[at:at+len(text)]) != text {
			return false
		}
		if f.params[0].text == i {
			m.Params.start = at + f.params[0].offset
		}
		if f.params[1].text == i {
			m.Params.end = at + f.params[1].offset
		}
		at += len(text)
		if i == len(f.slots) {
			break
		}
		end := plainValue(data, at)
		if end < 0 || !utf8.Valid(data[at:end]) {
			return false
		}
		m.as.slots[f.slots[i]] = span{at, end}
		at = end
	}
	m.ID = m.slot(idSlot, data)
	kind := m.ID.Kind()
	return at == len(data) && (kind == "number" || kind == "string")
}

// Learn has requests of the peer be recognized that are written like this one, but for their
// id and the slots, which are parts of the params; absent ones are no slots. The meaning is
// what all of them have in common. It must not be called when a part was wrapped already.
func (m *Message) Learn(meaning func() any, slots ...Payload) {
	known := m.peer == nil
	if known || !m.IsRequest() || m.Params.IsAbsent() || !m.Result.IsAbsent() || !m.Error.IsAbsent() || !m.peer.wants() {
		return
	}
	for _, slot := range slots {
		if !slot.IsAbsent() && (&slot.buf[0] != &m.ID.buf[0] || slot.start <= m.Params.start || slot.end >= m.Params.end) {
			return
		}
	}
	if learnt := m.form(slots); learnt != nil {
		learnt.meaning = meaning()
		m.peer.add(learnt)
	}
}

// Meaning is what Learn was told of messages like this one; nil if it was told nothing.
func (m *Message) Meaning() any {
	if m.as.form == nil {
		return nil
	}
	return m.as.form.meaning
}

// Slot returns what stands in this message for the i-th slot that Learn was given.
func (m *Message) Slot(i int) Payload { return m.slot(i, m.ID.buf) }

func (m *Message) slot(i int, data []byte) Payload {
	at := m.as.slots[i]
	return Payload{data, at.start, at.end}
}

// wants reports whether another form is to be learnt.
func (f *Forms) wants() bool {
	known := f.known.Load()
	return known == nil || len(*known) < maxForms || f.strange.Add(1) > strangers
}

func (f *Forms) add(learnt *form) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.strange.Store(0)
	var all []*form
	if known := f.known.Load(); known != nil {
		all = slices.Clone(*known)
	}
	if slices.ContainsFunc(all, func(known *form) bool { return slices.Equal(known.fixed, learnt.fixed) }) {
		return // at the same time
	}
	if len(all) < maxForms {
		all = append(all, learnt)
	} else {
		all[f.turn] = learnt
		f.turn = (f.turn + 1) % maxForms
	}
	f.known.Store(&all)
}

// form returns how the message is written; nil if that is of no use.
func (m *Message) form(slots []Payload) *form {
	type part struct {
		Payload
		slot int
	}
	parts := append(make([]part, 0, maxSlots+1), part{m.ID, idSlot})
	size := m.Size
	for i, slot := range slots {
		if !slot.IsAbsent() {
			parts = append(parts, part{slot, i})
			size -= slot.end - slot.start
		}
	}
	if size > maxFormSize {
		return nil
	}
	slices.SortFunc(parts, func(a, b part) int { return cmp.Compare(a.start, b.start) })
	data := m.ID.buf
	f, at := &form{method: bytes.Clone(m.Method)}, len(data)-m.Size
	for _, p := range append(parts, part{Payload: Payload{data, len(data), len(data)}}) {
		if p.start < at { // one is in another
			return nil
		}
		for i, edge := range [...]int{m.Params.start, m.Params.end} {
			if edge >= at && edge < p.start {
				f.params[i] = place{len(f.fixed), edge - at}
			}
		}
		f.fixed = append(f.fixed, string(data[at:p.start]))
		f.slots = append(f.slots, p.slot)
		at = p.end
	}
	f.slots = f.slots[:len(parts)]
	return f
}
