package audit

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"
)

// Place is a line of a log.
type Place struct {
	File string    `json:"file"`
	Line int       `json:"line"`
	Seq  uint64    `json:"seq"`
	Time time.Time `json:"time"`
	Hash string    `json:"hash"`
}

// Finding is something that no workbench would have written in this way.
type Finding struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

func (f Finding) String() string { return fmt.Sprintf("%s:%d: %s", f.File, f.Line, f.Reason) }

// Report is what a verification found.
type Report struct {
	Files    int       `json:"files"`
	Lines    int       `json:"lines"`
	Seals    int       `json:"seals"`
	First    Place     `json:"first"`
	Last     Place     `json:"head"`
	Sealed   Place     `json:"sealed"` // the last seal; zero: there is none
	Findings []Finding `json:"findings"`
	Lost     uint64    `json:"lost"`   // lines that workbenches could not write, as they say
	Torn     int       `json:"torn"`   // lines that were written in part
	Killed   int       `json:"killed"` // workbenches that ended without a last line
	Open     int       `json:"open"`   // calls that were admitted, and whose end is not recorded
	HasHead  bool      `json:"hasHead"`
	Key      string    `json:"key"` // the public key
	isPart   bool      // it began after the first line
	isFolder bool
}

// maxFindings is how many findings are reported; further ones follow from them, most likely.
const maxFindings = 20

// maxOpen is how many calls without an end are counted one by one.
const maxOpen = 100_000

// VerifyOptions say what to verify a log with.
type VerifyOptions struct {
	Key  ed25519.PublicKey
	Head string // the hash of a line that the log has to have; "": none
}

// Verify reads a log, which is a folder or one file, and checks the chain and the seals. An error means that it could not be
// read; what is wrong with it is in the report.
func Verify(path string, options VerifyOptions) (*Report, error) {
	files, err := filesAt(path)
	if err != nil {
		return nil, err
	}
	v := &verifier{
		options: options, open: make(map[string]bool),
		report: &Report{Files: len(files), isFolder: len(files) != 1 || files[0] != path, Key: hex.EncodeToString(options.Key), Findings: []Finding{}},
	}
	err = eachLine(files, v.line)
	if err != nil {
		return nil, err
	}
	v.end()
	return v.report, nil
}

// verifier checks one line after the other.
type verifier struct {
	options VerifyOptions
	report  *Report
	prev    hash // of the line before
	seq     uint64
	bad     []textLine // lines before this one that cannot be read, with their places only
	removed map[uint64]bool
	open    map[string]bool
	hasLine bool
}

func (v *verifier) find(at textLine, format string, values ...any) bool {
	if len(v.report.Findings) < maxFindings {
		v.report.Findings = append(v.report.Findings, Finding{at.file, at.number, fmt.Sprintf(format, values...)})
	}
	return len(v.report.Findings) < maxFindings
}

// line checks one line. It returns false if no further one needs to be.
func (v *verifier) line(at textLine) bool {
	v.report.Lines++
	sum := hash(sha256.Sum256(at.text))
	found, ok := parseLine(at.text)
	if !ok || !at.isWhole {
		v.bad = append(v.bad, textLine{file: at.file, number: at.number, isWhole: at.isWhole})
		v.prev = sum
		return len(v.bad) <= maxFindings
	}
	goesOn := v.checkPlace(at, found) && v.checkBad(found)
	isSeal := found.Event == eventSeal || found.Signature != "" || found.Key != "" // what was a seal must still be one
	if isSeal {
		goesOn = v.checkSeal(at, found) && goesOn
	}
	v.count(at, found)
	v.prev, v.seq, v.hasLine = sum, found.Seq, true
	here := Place{at.file, at.number, found.Seq, found.Time, sum.String()}
	if v.report.First.Line == 0 {
		v.report.First = here
	}
	v.report.Last = here
	if isSeal && len(v.report.Findings) == 0 {
		v.report.Sealed = here
	}
	if v.options.Head == here.Hash {
		v.report.HasHead = true
	}
	return goesOn
}

// checkPlace checks that a line follows the one before.
func (v *verifier) checkPlace(at textLine, found line) bool {
	switch {
	case !v.hasLine && len(v.bad) == 0:
		v.report.isPart = found.Seq > 1
		if found.Seq == 1 && found.Prev != "" {
			return v.find(at, "the first line names a line before it")
		}
		return true
	case found.Seq != v.seq+1 && v.hasLine:
		return v.find(at, "line %d follows line %d: lines between them are gone, or their order was changed", found.Seq, v.seq)
	case found.Prev != v.prev.String() && found.Seq > 1:
		return v.find(at, "the line before it (line %d) is not the one that was there when this one was written", v.seq)
	}
	return true
}

// checkBad checks that lines which cannot be read are explained: a process was killed while it wrote.
func (v *verifier) checkBad(found line) bool {
	if len(v.bad) == 0 {
		return true
	}
	bad := v.bad
	v.bad = nil
	if found.Event == eventLog && found.Outcome == "torn" && found.Count == uint64(len(bad)) {
		v.report.Torn += len(bad)
		return true
	}
	for _, at := range bad {
		if !v.find(at, "it cannot be read as a line of a log") {
			return false
		}
	}
	return true
}

// checkSeal checks a signature.
func (v *verifier) checkSeal(at textLine, found line) bool {
	v.report.Seals++
	body, rest, _ := bytes.Cut(at.text, []byte(signatureMember))
	digits, isEnd := bytes.CutSuffix(rest, []byte(`"}`))
	signature, err := hex.DecodeString(string(digits))
	switch {
	case !isEnd || err != nil || hex.EncodeToString(signature) != string(digits):
		return v.find(at, "the seal has no signature")
	case found.Key != keyID(v.options.Key):
		return v.find(at, "the seal was made with another key (%s) than that of this verification (%s)", found.Key, keyID(v.options.Key))
	case !ed25519.Verify(v.options.Key, signed(body), signature):
		return v.find(at, "the signature of the seal is wrong")
	}
	return true
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
		if v.removed == nil {
			v.removed = make(map[uint64]bool)
		}
		v.removed[found.Through] = true
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
	if r.isPart && !v.removed[r.First.Seq-1] && r.isFolder {
		v.find(textLine{file: r.First.File, number: r.First.Line}, "the log begins with line %d, and does not say that the lines before it were removed", r.First.Seq)
	}
	if v.options.Head != "" && !r.HasHead {
		v.find(textLine{file: r.Last.File, number: r.Last.Line}, "no line has the hash of --head: the log was cut off, or written anew")
	}
	if r.Seals == 0 && r.Lines > 0 {
		v.find(textLine{file: r.Last.File, number: r.Last.Line}, "nothing is sealed, although a workbench seals what it writes first")
	}
}

// IsPart reports whether the log begins after its first line, such as a single file.
func (r *Report) IsPart() bool { return r.isPart }
