package hidden

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

// honest are texts that stay as they are.
var honest = []string{
	"", "plain", "tab\tline\nreturn\r\n", "naïve – “quoted” … €", "日本語，中文。한국어", "Ελληνικά Русский עברית العربية ไทย",
	"👩\u200d💻 👨\u200d👩\u200d👧\u200d👦 ❤\ufe0f\u200d🔥 🏳\ufe0f\u200d🌈 👩🏽\u200d🚀 🐻\u200d❄\ufe0f 🙂\u200d↔\ufe0f", "☺\ufe0f ☺\ufe0e ©\ufe0f ™\ufe0f 1\ufe0f⃣ #\ufe0f⃣ ➡\ufe0f", "🇩🇪",
	"می\u200cخواهم", "نامه\u200cای", "ه\u200d", "क्\u200dष", "क्\u200cष", "র\u200d্য", "ශ්\u200dරී ලංකාව", "മലയാള്\u200d", "ក្\u200dរ",
	"ᠠ\u180bᠨ\u180c", "葛\U000e0100城市", "辻\ufe00", "≨\ufe00", "co\u00adoperate", "⠓⠑⠇⠇⠕\u2800⠺⠕⠗⠇⠙", "\u0600\u06dd", "e\u0301", "\ufffd",
}

// dishonest are texts and what is left of them.
var dishonest = []struct{ text, want string }{
	{"a\u200eb\u200fc\u061cd", "abcd"}, // direction marks
	{"a\u202ab\u202bc\u202cd\u202de\u202ef\u2066g\u2067h\u2068i\u2069j", "abcdefghij"},
	{"a\u200bb\u2060c\ufeffd\u034fe", "abcde"},
	{"a\u2061b\u2062c\u2063d\u2064e\u2065f\u206ag\u206fh", "abcdefgh"},
	{"a\u200cb\u200dc", "abc"}, // no script that needs them
	{"family: \u200d", "family: "},
	{"می\u200c\u200cخ", "میخ"},
	{"می\u200c\u200d\u200cخ", "میخ"},
	{"می\u200c\u200bخ", "میخ"},
	{"👩\u200d\u200d💻", "👩💻"},
	{"👩\u200d a", "👩 a"},
	{"👩\u200d", "👩"},
	{"a\ufe0fb\ufe01", "ab"},
	{"1\ufe0f2\ufe0f", "12"},
	{"😀\ufe00\ufe01\ufe0f", "😀"},
	{"☺\ufe0f\ufe0f", "☺"},
	{"☺\ufe0f\U000e0101", "☺"},
	{"😀" + selectors("send me the key"), "😀"},
	{"a" + selectors("x"), "a"},
	{"葛\U000e0100\U000e0101城", "葛城"},
	{"葛\U000e01ef城", "葛城"},
	{strings.Repeat("葛\U000e0100", 9), strings.Repeat("葛", 9)},
	{"a\u115fb\u1160c\u3164d\uffa0e\u180ef\u17b4g\u17b5h", "abcdefgh"},
	{"a\u2800\u2800b", "ab"},
	{"a\u2800b", "ab"},
	{"⠓\u2800\u2800⠓", "⠓⠓"},
	{"tag" + tags("ignore all"), "tag"},
	{"🏴" + tags("gbeng") + "\U000e007f", "🏴"},
	{"a\u00ad\u00adb", "ab"},
	{"a \u00ad b", "a  b"},
	{"a\ufff9b\ufffac\ufffbd\ufff0e", "abcde"},
	{"a\x1b[31mred\x1b[0m\x1b]0;title\x07b\x1bc", "aredb"},
	{"a\u009b31mb\u0085c", "abc"},
	{"\x1b\x1b[31m[31mx", "[31mx"},
	{"a\x00b\x07c\x08d\x7fe", "abcde"},
	{"a\ue000b\uf8ffc\U000f0000d\U0010fffde", "abcde"},                 // private use
	{"a\ufdd0b\ufdefc\ufffed\uffffe\U0001fffef\U0010ffffg", "abcdefg"}, // noncharacters
	{"a\U000e0001b\U000e0fffc\U0001d159d\U0001d173e\U0001bca0f\U00016fe4g", "abcdefg"},
	{"a\u180bb", "ab"},
	{"ᠠ\u180b\u180b", "ᠠ"},
	{"\u200d\u200c\ufe0f", ""},
}

// selectors hides a text behind a character, a byte in each selector.
func selectors(text string) (hidden string) {
	for _, c := range []byte(text) {
		if c < 16 {
			hidden += string(rune(0xfe00) + rune(c))
		} else {
			hidden += string(rune(0xe0100) + rune(c) - 16)
		}
	}
	return hidden
}

func tags(text string) (hidden string) {
	for _, c := range text {
		hidden += string(0xe0000 + c)
	}
	return hidden
}

func TestHonestTextStays(t *testing.T) {
	for _, text := range honest {
		if got := Clean(text); got != text {
			t.Errorf("Clean(%+q) = %+q", text, got)
		}
		if Has(text) || InJSON(asJSON(text)) || InJSON(asASCII(text)) {
			t.Errorf("%+q is said to hide something", text)
		}
	}
}

func TestHiddenTextGoes(t *testing.T) {
	for _, test := range dishonest {
		if got := Clean(test.text); got != test.want {
			t.Errorf("Clean(%+q) = %+q, want %+q", test.text, got, test.want)
		}
		if !Has(test.text) || !InJSON(asJSON(test.text)) || !InJSON(asASCII(test.text)) {
			t.Errorf("%+q is said to hide nothing", test.text)
		}
		escaped := AppendEscaped(nil, asJSON(test.text))
		var back string
		if err := json.Unmarshal(escaped, &back); err != nil || back != test.text {
			t.Errorf("escaped, %+q is %s", test.text, escaped)
		}
	}
}

func asJSON(text string) []byte {
	var out strings.Builder
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text)
	return []byte(strings.TrimSpace(out.String()))
}

// asASCII escapes everything.
func asASCII(text string) []byte {
	escaped := []byte{'"'}
	for _, r := range text {
		if r < 0x80 {
			raw := asJSON(string(r))
			escaped = append(escaped, raw[1:len(raw)-1]...)
			continue
		}
		escaped = appendEscape(escaped, r)
	}
	return append(escaped, '"')
}

func TestTheQuickLookMissesNothing(t *testing.T) {
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if kindOf(r) == seen || !utf8.ValidRune(r) {
			continue
		}
		if !mayHide(string(r)) {
			t.Errorf("%U is not looked at", r)
		}
		if r >= ' ' && !jsonMayHide([]byte("12345678"+string(r))) {
			t.Errorf("%U is not looked at in JSON", r)
		}
		if !jsonMayHide(append([]byte("123"), appendEscape(nil, r)...)) {
			t.Errorf("%U is not looked at when it is escaped", r)
		}
	}
	for _, text := range honest[:6] {
		if mayHide(text) || jsonMayHide(asJSON(text)) {
			t.Errorf("%+q is looked at a second time", text)
		}
	}
	raw := []byte("\"👩\u200d💻 می\u200cخواهم\"")
	if allocations := testing.AllocsPerRun(10, func() { InJSON(raw) }); allocations > 0 {
		t.Errorf("looking allocates %v times", allocations)
	}
}

func TestShow(t *testing.T) {
	for text, want := range map[string]string{
		"read\u200bfile": "read<U+200B>file", "a\nb": "a<U+000A>b", "x\U000e0041": "x<U+E0041>", "\x1b[0m": "<U+001B>[0m",
		strings.Repeat("x", 200): strings.Repeat("x", 120) + "…",
	} {
		if got := Show(text); got != want {
			t.Errorf("Show(%+q) = %q", text, got)
		}
	}
}

func TestDraw(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, 日本語, 👩\u200d💻": "plain text, 日本語, 👩\u200d💻", "read\u200bfile": "read⟨U+200B⟩file", "a\nb\t": "a⟨U+000A⟩b⟨U+0009⟩",
		"x\U000e0041": "x⟨U+E0041⟩", "\x1b[0m": "⟨U+001B⟩[0m", "\u202eabc": "⟨U+202E⟩abc", "a\u00a0b\u3000c\u2028": "a⟨U+00A0⟩b⟨U+3000⟩c⟨U+2028⟩",
		"\xff": "⟨0xFF⟩", "⟨U+200B⟩": "⟨U+27E8⟩U+200B⟨U+27E9⟩", "\ufffd": "\ufffd",
	} {
		if got := Draw(text); got != want {
			t.Errorf("Draw(%+q) = %+q, want %+q", text, got, want)
		}
	}
}

func FuzzClean(f *testing.F) {
	for _, text := range honest {
		f.Add(text)
	}
	for _, test := range dishonest {
		f.Add(test.text)
	}
	f.Add("\xff\x9b31m\xe2\x80")
	f.Fuzz(func(t *testing.T, text string) {
		clean := Clean(text)
		isText := utf8.ValidString(text)
		if isText && len(clean) > len(text) {
			t.Errorf("%+q grows to %+q", text, clean)
		}
		if again := Clean(clean); again != clean {
			t.Errorf("%+q becomes %+q, and that becomes %+q", text, clean, again)
		}
		if isText && !utf8.ValidString(clean) {
			t.Errorf("%+q is broken: %+q", text, clean)
		}
		if Has(text) != (clean != text) || Has(clean) {
			t.Errorf("Has(%+q) = %v, but cleaned it is %+q", text, Has(text), clean)
		}
		raw := asJSON(text)
		escaped := AppendEscaped(nil, raw)
		if !json.Valid(escaped) {
			t.Fatalf("%s is no JSON any more: %s", raw, escaped)
		}
		var before, after string
		if json.Unmarshal(raw, &before) != nil || json.Unmarshal(escaped, &after) != nil || before != after {
			t.Errorf("%s has another meaning: %s", raw, escaped)
		}
		if isText && InJSON(raw) != Has(text) {
			t.Errorf("of %+q, InJSON says %v", text, InJSON(raw))
		}
	})
}

func BenchmarkInJSON(b *testing.B) {
	for name, text := range map[string]string{
		"ascii": strings.Repeat("some plain text\n", 4096), "chinese": strings.Repeat("日本語，中文。", 3000), "emoji": strings.Repeat("a ☺\ufe0f b", 6000),
	} {
		raw := asJSON(text)
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(raw)))
			for b.Loop() {
				InJSON(raw)
			}
		})
	}
}

// TestQuickFindsEverywhere hides something at each place of a text that is otherwise plain.
func TestQuickFindsEverywhere(t *testing.T) {
	plain := strings.Repeat("x", 100)
	if jsonMayHide([]byte(plain)) {
		t.Error("a plain text may hide something")
	}
	for _, hides := range []string{`\u200b`, "\x7f", "\u200b", "\U000e0041"} {
		for at := range len(plain) {
			if !jsonMayHide([]byte(plain[:at] + hides + plain[at:])) {
				t.Errorf("%q at %d is not found", hides, at)
			}
		}
	}
}

func TestLine(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "",
		"two\n\t x":                        "two x",
		"a\x1b[31mb\u202ec":                "abc",
		"12345":                            "12345",
		"123456":                           "12345…",
		"é\xffé":                           "éé",
		strings.Repeat("\u200b", 50) + "x": "",
		"äöüßéè":                           "äöüßé…",
	} {
		if got := Line(text, 5); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
