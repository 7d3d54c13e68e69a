package top

import (
	"slices"
	"unicode"

	"charm.land/bubbles/v2/key"
	tea "charm.land/bubbletea/v2"
)

// The keys, and what help says of them.
var (
	keyQuit     = binding("q", "quit", "q", "Q", "ctrl+c")
	keyNext     = binding("Tab", "next pane", "tab")
	keyPrevious = binding("Shift-Tab", "previous pane", "shift+tab")
	keyPanes    = binding("1–6", "a pane", "1", "2", "3", "4", "5", "6")
	keyUp       = binding("↑ k", "up", "up", "k")
	keyDown     = binding("↓ j", "down", "down", "j")
	keyPageUp   = binding("PgUp", "a page up", "pgup", "ctrl+b")
	keyPageDown = binding("PgDn Space", "a page down", "pgdown", "ctrl+f", "space")
	keyHome     = binding("Home g", "the first row", "home", "g")
	keyEnd      = binding("End G", "the last row; follow a log", "end", "G")
	keyLeft     = binding("←", "log: to the left", "left", "h")
	keyRight    = binding("→", "log: to the right", "right")
	keyFilter   = binding("/", "filter", "/")
	keyBack     = binding("Esc", "leave details or the filter", "esc")
	keySort     = binding("s", "sort by the next column", "s")
	keyReverse  = binding("S", "reverse the order", "S")
	keyOpen     = binding("Enter", "details; answer a question", "enter")
	keyLogs     = binding("l", "log of the server", "l")
	keyOwnLog   = binding("L", "log of the workbench", "L")
	keyRestart  = binding("r", "restart the server", "r")
	keyCancel   = binding("x", "cancel the running call", "x")
	keyAnswer   = binding("a", "answer the question", "a")
	keyPause    = binding("p", "pause the screen", "p")
	keyHelp     = binding("?", "help", "?")
	keySuspend  = binding("Ctrl-Z", "suspend", "ctrl+z")
)

func binding(name, does string, keys ...string) key.Binding {
	return key.NewBinding(key.WithKeys(keys...), key.WithHelp(name, does))
}

// allKeys are the keys in the order of the help.
func allKeys() []key.Binding {
	return []key.Binding{
		keyNext, keyPrevious, keyPanes, keyUp, keyDown, keyPageUp, keyPageDown, keyHome, keyEnd, keyLeft, keyRight, keyFilter, keyBack, keySort, keyReverse,
		keyOpen, keyLogs, keyOwnLog, keyRestart, keyCancel, keyAnswer, keyPause, keySuspend, keyHelp, keyQuit,
	}
}

// key does what a key is for.
func (m *model) key(pressed tea.KeyPressMsg) tea.Cmd {
	if pressed.Mod == tea.ModAlt { // Esc, and a key right after it
		m.key(tea.KeyPressMsg{Code: tea.KeyEscape})
		pressed.Mod = 0
		if pressed.Text == "" && pressed.Code < unicode.MaxRune && unicode.IsPrint(pressed.Code) {
			pressed.Text = string(pressed.Code)
		}
	}
	switch pressed.Keystroke() {
	case "ctrl+c":
		return tea.Quit
	case "ctrl+z":
		return tea.Suspend
	}
	switch m.mode {
	case filtering:
		m.typeFilter(pressed)
		return nil
	case confirming:
		m.decide(pressed)
		return nil
	case answering:
		m.typeAnswer(pressed)
		return nil
	case reading:
		return m.read(pressed)
	case moving:
	}
	m.note = ""
	if m.scroll(pressed) {
		return nil
	}
	switch {
	case key.Matches(pressed, keyQuit):
		return tea.Quit
	case key.Matches(pressed, keyNext):
		m.show((m.current + 1) % panes)
	case key.Matches(pressed, keyPrevious):
		m.show((m.current + panes - 1) % panes)
	case key.Matches(pressed, keyPanes):
		m.show(paneID(pressed.Keystroke()[0] - '1'))
	case key.Matches(pressed, keyFilter):
		m.mode = filtering
	case key.Matches(pressed, keyBack):
		m.table().filter = ""
	case key.Matches(pressed, keySort):
		m.table().keep()
		m.table().sortBy(m.columns())
	case key.Matches(pressed, keyReverse):
		m.table().keep()
		m.table().reversed = !m.table().reversed
	case key.Matches(pressed, keyPause):
		m.pause()
	case key.Matches(pressed, keyHelp):
		m.help()
	default:
		m.act(pressed)
	}
	return nil
}

// act does what a key is for that is about the selected row.
func (m *model) act(pressed tea.KeyPressMsg) {
	switch {
	case key.Matches(pressed, keyOpen) && m.current == questionsPane, key.Matches(pressed, keyAnswer):
		m.answer()
	case key.Matches(pressed, keyOpen):
		m.open()
	case key.Matches(pressed, keyLogs):
		m.openLog()
	case key.Matches(pressed, keyOwnLog):
		m.openOwnLog()
	case key.Matches(pressed, keyRestart):
		m.askRestart()
	case key.Matches(pressed, keyCancel):
		m.askCancel()
	}
}

// show changes to a pane.
func (m *model) show(pane paneID) {
	m.current = pane
	switch {
	case pane == logsPane && m.log.isEmpty():
		m.openLog()
	case pane == toolsPane:
		m.askActivity()
	}
}

// scroll moves the rows or lines in front. It reports whether the key is for that.
func (m *model) scroll(pressed tea.KeyPressMsg) bool {
	page := max(m.height-5, 1)
	by := 0
	switch {
	case key.Matches(pressed, keyUp):
		by = -1
	case key.Matches(pressed, keyDown):
		by = 1
	case key.Matches(pressed, keyPageUp):
		by = -page
	case key.Matches(pressed, keyPageDown):
		by = page
	case key.Matches(pressed, keyHome):
		by = -1 << 30
	case key.Matches(pressed, keyEnd):
		by = 1 << 30
	case key.Matches(pressed, keyLeft, keyRight):
		if m.current == logsPane && m.mode == moving {
			m.log.shiftBy(key.Matches(pressed, keyRight))
		}
		return true
	default:
		return false
	}
	switch {
	case m.mode == reading:
		m.page.move(by)
	case m.mode == answering:
		m.dialog.text.move(by)
	case m.current == logsPane:
		m.log.move(by)
	default:
		m.table().move(by)
	}
	return true
}

// typeFilter changes the filter. Esc leaves it out, Enter keeps it; arrows move among what it left.
func (m *model) typeFilter(pressed tea.KeyPressMsg) {
	t := m.table()
	switch pressed.Keystroke() {
	case "esc":
		t.filter, m.mode = "", moving
	case "enter":
		m.mode = moving
	case "ctrl+u":
		t.filter = ""
	case "up", "down", "pgup", "pgdown":
		m.scroll(pressed)
	default:
		t.filter = edit(t.filter, pressed, maxFilter)
	}
}

const maxFilter = 200 // characters of a filter

// edit returns a text with a key typed at its end.
func edit(text string, pressed tea.KeyPressMsg, limit int) string {
	letters := []rune(text)
	switch {
	case pressed.Keystroke() == "backspace":
		letters = letters[:max(0, len(letters)-1)]
	case pressed.Text != "" && len(letters) < limit:
		letters = slices.Concat(letters, []rune(pressed.Text))
	}
	return string(letters)
}

// read moves in the details, and leaves them.
func (m *model) read(pressed tea.KeyPressMsg) tea.Cmd {
	switch {
	case m.scroll(pressed):
	case key.Matches(pressed, keyQuit):
		return tea.Quit
	case key.Matches(pressed, keyBack), key.Matches(pressed, keyOpen), key.Matches(pressed, keyHelp):
		m.mode, m.page = moving, nil
	case m.page.id != "":
		m.mode, m.page = moving, nil
		m.act(pressed)
	}
	return nil
}
