package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"time"
)

// Place is a line of a log.
type Place struct {
	File string    `json:"file"`
	Line int       `json:"line"`
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time,omitzero"`
	Hash string    `json:"hash"`
}

// Finding is something that no workbench would have written in this way.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (f Finding) String() string {
	if f.File == "" { // there is no line
		return f.Reason
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Reason)
}

// Report is what a verification found.
type Report struct {
	Files    int       `json:"files"`
	Lines    int       `json:"lines"`
	Seals    int       `json:"seals"`
	First    Place     `json:"first"`
	Last     Place     `json:"head"`
	Sealed   Place     `json:"sealed"` // the last seal; zero: there is none
	Findings []Finding `json:"findings"`
	Further  int       `json:"furtherFindings"` // that are only counted
	Lost     uint64    `json:"lost"`            // lines that workbenches could not write, as they say
	Torn     int       `json:"torn"`            // lines that were written in part
	Killed   int       `json:"killed"`          // workbenches that ended without a last line
	Open     int       `json:"open"`            // calls that were admitted, and whose end is not recorded
	HasHead  bool      `json:"hasHead"`
	Keys     []string  `json:"publicKeys"` // that the log was verified with
	// Others are keys of seals which the log was not verified with. The signatures of their seals are right, but whose they
	// are is not known: another state folder of the user may write to the log, or the key was replaced.
	Others []OtherKey `json:"otherKeys"`

	isPart   bool // it began after the first line
	isFolder bool
}

// OtherKey is a key that the log was not verified with.
type OtherKey struct {
	PublicKey string `json:"publicKey"`
	Seals     int    `json:"seals"`
	First     Place  `json:"first"` // of its seals
	Last      Place  `json:"last"`
}

// maxOthers is how many other keys are told apart; a seal of a further one is a finding.
const maxOthers = 100

// maxFindings is how many findings are named; further ones are counted.
const maxFindings = 20

// maxBad is how many lines in a row that cannot be read may be explained by a later one; more are findings.
const maxBad = 20

// maxOpen is how many calls without an end are counted one by one.
const maxOpen = 100_000

// VerifyOptions say what to verify a log with.
type VerifyOptions struct {
	Keys []ed25519.PublicKey // of all who may have sealed it
	Head string              // the hash of a line that the log has to have; "": none
}

// Verify reads a log, which is a folder or one file, and checks the chain and the seals. An error means that it could not be
// read; what is wrong with it is in the report.
func Verify(path string, options VerifyOptions) (*Report, error) {
	files, err := filesAt(path)
	if err != nil {
		return nil, err
	}
	v := &verifier{
		options: options, open: make(map[string]bool), keys: make(map[string]bool), removed: make(map[uint64]string),
		report: &Report{Files: len(files), isFolder: len(files) != 1 || files[0] != path, Findings: []Finding{}, Others: []OtherKey{}},
	}
	for _, key := range options.Keys {
		text := hex.EncodeToString(key)
		v.keys[text], v.report.Keys = true, append(v.report.Keys, text)
	}
	err = eachLine(files, func(at textLine) bool {
		v.line(at)
		return true
	})
	if err != nil {
		return nil, err
	}
	v.end()
	if v.report.isFolder {
		v.report.Killed += countKilled(path)
	}
	return v.report, nil
}

// verifier checks one line after the other.
type verifier struct {
	options VerifyOptions
	report  *Report
	prev    hash     // of the line before
	before  textLine // the line before, with its place only
	seq     uint64
	bad     []textLine        // lines before this one that cannot be read, with their places only
	keys    map[string]bool   // that seals may have
	first   string            // which line the first one names as the one before
	removed map[uint64]string // the last lines of files that were removed, and their hashes
	claimed []line            // since the last seal, that files were removed
	open    map[string]bool
	hasLine bool
}

func (v *verifier) find(at textLine, format string, values ...any) {
	if len(v.report.Findings) == maxFindings {
		v.report.Further++
		return
	}
	v.report.Findings = append(v.report.Findings, Finding{at.file, at.number, fmt.Sprintf(format, values...)})
}

// line checks one line.
func (v *verifier) line(at textLine) {
	v.report.Lines++
	defer func() { v.before = textLine{file: at.file, number: at.number} }()
	sum := hash(sha256.Sum256(at.text))
	found, ok := parseLine(at.text)
	if !ok || at.isLong {
		if len(v.bad) == maxBad { // more than one process leaves
			v.findBad()
		}
		v.bad = append(v.bad, textLine{file: at.file, number: at.number, isWhole: at.isWhole, isLong: at.isLong || !mayBeTorn(at.text)})
		v.prev = sum
		return
	}
	hasBad := len(v.bad) > 0
	v.checkBad(found)
	v.checkPlace(at, found, hasBad)
	here := Place{at.file, at.number, found.Seq, found.Time, sum.String()}
	isSeal := found.Event == eventSeal || found.Signature != "" || found.Key != "" // what was a seal must still be one
	if isSeal {
		v.checkSeal(at, found, here)
	}
	v.count(at, found)
	v.prev, v.seq, v.hasLine = sum, found.Seq, true
	if v.report.First.Line == 0 {
		v.report.First, v.first = here, found.Prev
	}
	v.report.Last = here
	if isSeal && v.keys[found.Key] && len(v.report.Findings) == 0 {
		v.report.Sealed = here
	}
	if v.options.Head == here.Hash {
		v.report.HasHead = true
	}
}

// checkPlace checks that a line follows the one before, which may be one that cannot be read.
func (v *verifier) checkPlace(at textLine, found line, isAfterBad bool) {
	switch {
	case !v.hasLine && !isAfterBad:
		v.report.isPart = found.Seq > 1
		if found.Seq == 1 && found.Prev != "" {
			v.find(at, "the first line names a line before it")
		}
	case found.Seq != v.seq+1 && v.hasLine:
		v.find(at, "line %d follows line %d: lines between them are gone, or their order was changed", found.Seq, v.seq)
	case found.Prev != v.prev.String() && found.Seq > 1:
		v.find(v.before, "it is not the line that was there when the next one (%s:%d) was written", at.file, at.number)
	}
}

// checkBad checks that lines which cannot be read are explained: a process was killed while it wrote.
func (v *verifier) checkBad(found line) {
	if found.Event != eventLog || found.Outcome != "torn" || found.Count != uint64(len(v.bad)) {
		v.findBad()
		return
	}
	v.bad = slices.DeleteFunc(v.bad, func(at textLine) bool {
		if !at.isLong {
			v.report.Torn++
		}
		return !at.isLong
	})
	v.findBad()
}

// findBad reports the lines that cannot be read.
func (v *verifier) findBad() {
	for _, at := range v.bad {
		v.find(at, "it cannot be read as a line of a log")
	}
	v.bad = v.bad[:0]
}

// mayBeTorn reports whether a line that cannot be read may be the beginning of one that a process was killed in. A line that is
// whole, and was changed so that it cannot be read, is not.
func mayBeTorn(text []byte) bool {
	const begin = `{"seq":`
	text = bytes.TrimRight(text, "\x00") // which a file system may leave after a crash
	if !bytes.HasPrefix(text, []byte(begin[:min(len(begin), len(text))])) {
		return false
	}
	return !bytes.HasSuffix(text, []byte(`"}`)) || bytes.HasSuffix(text, []byte(`\"}`))
}

// checkSeal checks a signature.
func (v *verifier) checkSeal(at textLine, found line, here Place) {
	v.report.Seals++
	body, rest, _ := bytes.Cut(at.text, []byte(signatureMember))
	digits, isEnd := bytes.CutSuffix(rest, []byte(`"}`))
	signature, err := hex.DecodeString(string(digits))
	key, keyErr := ParsePublicKey(found.Key)
	switch {
	case !isEnd || err != nil || hex.EncodeToString(signature) != string(digits):
		v.find(at, "the seal has no signature")
		return
	case keyErr != nil || hex.EncodeToString(key) != found.Key:
		v.find(at, "the seal does not name its key")
		return
	case !ed25519.Verify(key, signed(body), signature):
		v.find(at, "the signature of the seal is wrong")
		return
	}
	v.confirm(found)
	if !v.keys[found.Key] {
		v.countOther(at, found.Key, here)
	}
}

// confirm believes the lines about removed files that were written together with a seal, and so have its time. Others were added
// by somebody without the key, who removed the files, before a workbench wrote the next seal.
func (v *verifier) confirm(seal line) {
	for _, one := range v.claimed {
		if one.Time.Equal(seal.Time) {
			v.removed[one.Through] = one.Head
		}
	}
	v.claimed = v.claimed[:0]
}

// countOther notes a seal of a key that is not one of the verification.
func (v *verifier) countOther(at textLine, key string, here Place) {
	others := v.report.Others
	i := slices.IndexFunc(others, func(other OtherKey) bool { return other.PublicKey == key })
	if i < 0 {
		if len(others) == maxOthers {
			v.find(at, "the log has seals of more than %d other keys", maxOthers)
			return
		}
		i = len(others)
		others = append(others, OtherKey{PublicKey: key, First: here})
	}
	others[i].Seals++
	others[i].Last = here
	v.report.Others = others
}

// count counts what lines say of the log.
func (v *verifier) count(at textLine, found line) {
	switch {
	case found.Event == eventLost:
		v.report.Lost += found.Count
	case found.Event == eventLog && found.Outcome == "killed":
		v.report.Killed++
	case found.Event == eventLog && found.Outcome == "cut":
		v.find(at, "a workbench found that lines up to %d were gone which it had written", found.Through)
	case found.Event == eventLog && found.Outcome == "removed":
		if len(v.claimed) < maxFiles {
			v.claimed = append(v.claimed, found)
		}
	case found.Event == eventCall && found.Outcome == "admitted" && len(v.open) < maxOpen:
		v.open[found.Call] = true
	case found.Event == eventCall || found.Event == eventRefused:
		delete(v.open, found.Call)
	}
}

// end checks what only the whole log shows.
func (v *verifier) end() {
	for _, at := range v.bad {
		if !at.isWhole {
			v.report.Torn++ // it is being written, or a process was killed
			continue
		}
		v.find(at, "it cannot be read as a line of a log")
	}
	r := v.report
	r.Open = len(v.open)
	if r.isPart && r.isFolder && (v.first == "" || v.removed[r.First.Seq-1] != v.first) {
		v.find(textLine{file: r.First.File, number: r.First.Line}, "the log begins with line %d, and does not say that the lines before it were removed", r.First.Seq)
	}
	if v.options.Head != "" && !r.HasHead {
		v.find(textLine{file: r.Last.File, number: r.Last.Line}, "no line has the hash of --head: the log was cut off, or written anew")
	}
	if r.Seals == 0 && r.Lines > 0 {
		v.find(textLine{file: r.Last.File, number: r.Last.Line}, "nothing is sealed, although a workbench seals what it writes first (unless it was killed while it did)")
	}
}

// IsPart reports whether the log begins after its first line, such as a single file.
func (r *Report) IsPart() bool { return r.isPart }
