package audit

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"time"

	"github.com/mcp-workbench/mcp-workbench/internal/base/stored"
)

// composer makes lines that continue a chain.
type composer struct {
	text     []byte
	head     head
	writer   string
	isSealed bool // the last line is a seal
	isFirst  bool // the next line is the first of its file, which has the format
}

// start begins a line.
func (c *composer) start(at time.Time, body []byte) (begin int) {
	begin = len(c.text)
	c.text = append(c.text, `{"seq":`...)
	c.text = strconv.AppendUint(c.text, c.head.Seq+1, 10)
	if c.isFirst {
		c.text = append(c.text, `,"format":`...)
		c.text = strconv.AppendInt(c.text, int64(stored.Audit.Format), 10)
		c.isFirst = false
	}
	c.text = append(c.text, `,"time":"`...)
	c.text = at.UTC().AppendFormat(c.text, time.RFC3339Nano)
	c.text = append(c.text, `",`...)
	c.text = append(c.text, body...)
	c.text = append(c.text, `,"writer":"`...)
	c.text = append(c.text, c.writer...)
	c.text = append(c.text, `","prev":"`...)
	if c.head.Seq > 0 {
		c.text = hex.AppendEncode(c.text, c.head.Hash[:])
	}
	c.text = append(c.text, '"')
	return begin
}

// end ends a line, and makes it the head.
func (c *composer) end(begin int) {
	c.text = append(c.text, '}')
	c.head = head{c.head.Seq + 1, sha256.Sum256(c.text[begin:])}
	c.text = append(c.text, '\n')
}

func (c *composer) add(at time.Time, body []byte) {
	c.end(c.start(at, body))
	c.isSealed = false
}

// seal adds a signature over a line that names the one before, and so over all lines.
func (c *composer) seal(at time.Time, with *keys) {
	begin := c.start(at, newFields(eventSeal, "").hexadecimal("key", with.public()))
	signature := ed25519.Sign(with.seal, signed(c.text[begin:]))
	c.text = append(c.text, signatureMember...)
	c.text = hex.AppendEncode(c.text, signature)
	c.text = append(c.text, '"')
	c.end(begin)
	c.isSealed = true
}

// signatureMember is the last member of a seal. The signature is over everything before it.
const signatureMember = `,"signature":"`

// signed returns what is signed of a seal: nothing else that the key may sign looks like it.
func signed(line []byte) []byte {
	return append([]byte("mcp-workbench audit seal 1\n"), line...)
}
