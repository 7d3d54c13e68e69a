package top

import (
	"context"
	"fmt"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/mcp-workbench/mcp-workbench/internal/base/tty"
)

// paneID is the number of a pane.
type paneID int

const (
	serversPane paneID = iota
	callsPane
	toolsPane
	clientsPane
	questionsPane
	logsPane
	panes
)

// mode is what keys are for.
type mode int

const (
	moving     mode = iota
	filtering       // letters are a filter
	confirming      // y or n
	reading         // details, or help
	answering       // a question
)

// clockTime is how often times are drawn again that pass by themselves.
const clockTime = time.Second

// painter gives a text its style.
type painter func(tty.Style, string) string

// reverse is the style of the selected row.
const reverse tty.Style = "7"

// model is all that is seen, and what keys do.
type model struct {
	screen   *tty.Screen
	options  Options
	paint    painter
	now      func() time.Time
	send     func(tea.Msg)
	ctx      context.Context // ends with the screen
	tasks    sync.WaitGroup  // that keys have begun
	isPerson bool            // a person is at the keyboard

	live, shown   *state // the same, unless paused
	why           string // no workbench is there
	isPaused      bool
	paused        time.Time
	width, height int
	current       paneID
	tables        [panes]table
	mode          mode
	note          string // what became of what a person did
	confirm       *confirmation
	page          *text // details or help
	dialog        *dialog
	log           *logView
	answered      map[string]bool // rows of questions that were answered here; the workbench tells a moment later

	drawn     []string
	cursor    *tea.Cursor
	drawnAt   time.Time
	isWaiting bool // a redrawMsg is on its way
}

type (
	redrawMsg struct{}
	clockMsg  struct{}
	noteMsg   struct{ text string }
)

func newModel(screen *tty.Screen, options Options) *model {
	m := &model{screen: screen, options: options, paint: screen.Paint, now: time.Now, live: &state{}, log: &logView{}, answered: make(map[string]bool), width: 80, height: 24}
	m.shown = m.live
	if options.Tools {
		m.current = toolsPane
	}
	return m
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return clock() }

func clock() tea.Cmd { return tea.Tick(clockTime, func(time.Time) tea.Msg { return clockMsg{} }) }

// View implements tea.Model. It returns what was drawn last, since it is called after every message.
func (m *model) View() tea.View {
	if m.drawn == nil {
		m.draw()
	}
	view := tea.NewView(joinLines(m.drawn))
	view.AltScreen = true
	view.Cursor = m.cursor
	return view
}

// Update implements tea.Model.
func (m *model) Update(message tea.Msg) (tea.Model, tea.Cmd) {
	switch message := message.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = message.Width, message.Height
		m.draw()
		return m, tea.ClearScreen // terminals keep characters in places of their own when they change their size
	case tea.KeyPressMsg:
		command := m.key(message)
		m.draw()
		return m, command
	case tea.PasteMsg:
		if m.mode != filtering { // nothing that is answered or done is pasted
			return m, nil
		}
		m.table().filter += tty.CleanLine(message.Content)
	case tea.ResumeMsg, redrawMsg:
		m.isWaiting = false
	case noteMsg:
		m.note = message.text
	case logMsg:
		m.log.add(message)
		return m, m.changed()
	case answeredMsg:
		m.takeAnswered(message)
	case detailMsg:
		m.takeDetail(message)
	case panicMsg:
		panic(message.reason) // the library restores the terminal
	case clockMsg:
		return m, m.tick()
	default:
		if !m.take(message) {
			return m, nil
		}
		m.follow()
		return m, m.changed()
	}
	m.draw()
	return m, nil
}

// take takes over what the feed tells. It reports whether it was news.
func (m *model) take(message tea.Msg) bool {
	switch message := message.(type) {
	case foundMsg:
		m.why = ""
		m.live.add(message.Workbench)
	case goneMsg:
		m.live.remove(message.pid)
	case eventMsg:
		if b := m.live.find(message.pid); b != nil {
			m.live.apply(b, &message.Event, m.now())
		}
	case statusMsg:
		if b := m.live.find(message.pid); b != nil {
			b.polled, b.questions = message.why, message.questions
			b.setStatus(message.status, m.now())
		}
	case activityMsg:
		b := m.live.find(message.pid)
		if b == nil {
			return false
		}
		if b.isAsked = false; message.status.PID == message.pid {
			b.Status.Activity, b.Status.ActivityTime = message.status.Activity, message.status.ActivityTime
		}
	case nobodyMsg:
		m.why = message.why
	default:
		return false
	}
	return true
}

// changed has what changed by itself drawn, but not too often.
func (m *model) changed() tea.Cmd {
	passed := m.now().Sub(m.drawnAt)
	switch {
	case m.isWaiting:
		return nil
	case passed >= m.options.Every:
		m.draw()
		return nil
	}
	m.isWaiting = true
	return tea.Tick(m.options.Every-passed, func(time.Time) tea.Msg { return redrawMsg{} })
}

// tick is what happens each second.
func (m *model) tick() tea.Cmd {
	m.askActivity()
	m.follow()
	m.refreshDetail()
	return tea.Batch(clock(), m.changed())
}

// follow ends what is about something that is gone.
func (m *model) follow() {
	if m.dialog != nil {
		m.dialog.check(m.live, m.now())
	}
}

// pause has the screen stay as it is, or go on.
func (m *model) pause() {
	m.isPaused = !m.isPaused
	m.shown = m.live
	if m.isPaused {
		m.shown, m.paused = m.live.clone(), m.now()
	}
}

// time is the time that the screen shows.
func (m *model) time() time.Time {
	if m.isPaused {
		return m.paused
	}
	return m.now()
}

func (m *model) table() *table { return &m.tables[m.current] }

// do does something that may take a while, besides, and notes what became of it.
func (m *model) do(doing string, act func(ctx context.Context) (string, error)) {
	m.note = doing + "…"
	m.tasks.Go(func() {
		ctx, cancel := context.WithTimeout(m.ctx, actTime)
		defer cancel()
		done, err := act(ctx)
		if err != nil {
			done = fmt.Sprintf("%s: %s", doing, explain(err))
		}
		m.send(noteMsg{done})
	})
}
