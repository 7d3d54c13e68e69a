//go:build unix

package load

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// This file is the ways to misbehave.

// pause is between two bytes or requests of one hostile client, and again between two of its connections.
const (
	pause = 100 * time.Millisecond
	again = time.Second
)

// rest waits for a pause; it reports false when all is over.
func rest(ctx context.Context, pause time.Duration) bool {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// keeping keeps so many connections open, each of which says something, and then trickles byte by byte, if there is
// anything to trickle. One that is closed is replaced.
func keeping(name string, connections int, say, trickle string) lane {
	return lane{name, func(ctx context.Context, p *place, count *atomic.Int64) {
		var work sync.WaitGroup
		for i := range connections {
			work.Go(func() {
				// Not all in the same moment: that many handshakes are a question of processors.
				for ok := rest(ctx, again*time.Duration(i)/time.Duration(connections)); ok; ok = rest(ctx, again) {
					p.keep(ctx, strings.ReplaceAll(say, "HOST", p.host), trickle, count)
				}
			})
		}
		work.Wait()
	}}
}

func (p *place) keep(ctx context.Context, say, trickle string, count *atomic.Int64) {
	dialer := net.Dialer{Timeout: patience}
	conn, err := dialer.DialContext(ctx, "tcp", p.host)
	if err != nil {
		return
	}
	count.Add(1)
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	defer conn.Close()
	if _, err := io.WriteString(conn, say); err != nil {
		return
	}
	if trickle == "" {
		_, _ = io.Copy(io.Discard, conn) // until it is closed
		return
	}
	for i := 0; rest(ctx, pause); i++ {
		if _, err := conn.Write([]byte{trickle[i%len(trickle)]}); err != nil {
			return
		}
	}
}

const postLines = "POST /mcp HTTP/1.1\r\nHost: HOST\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"

// strangers are clients without a token.
func strangers(connections int) []lane {
	return []lane{
		keeping("silent connections", connections, "", ""),
		keeping("connections with slow headers", connections, "POST /mcp HTTP/1.1\r\nHost: HOST\r\nX-", "a"),
		keeping("bodies of strangers that never come", connections, postLines+"Content-Length: 1000\r\n\r\n", ""),
		keeping("bodies of strangers that come slowly", connections, postLines+"Content-Length: 100000\r\n\r\n", " "),
		keeping("chunks of strangers that never end", connections, postLines+"Transfer-Encoding: chunked\r\n\r\n", "1\r\n \r\n"),
		keeping("connections that stay after a request", connections, "GET /healthz HTTP/1.1\r\nHost: HOST\r\n\r\n", ""),
	}
}

// tokenLanes are what a client with a token does.
func tokenLanes() []lane {
	return []lane{
		{"slow uploads of one token", slowUploads},
		{"sessions of one token", sessionFlood},
		{"large answers of one token that are not read", unreadAnswers},
		{"batches of 10,000 of another token", largeBatches},
		{"kinds of client of one token", manyKinds},
	}
}

// workers runs something so often at once, again and again.
func workers(ctx context.Context, n int, do func(worker int)) {
	var work sync.WaitGroup
	for i := range n {
		work.Go(func() {
			for ctx.Err() == nil {
				do(i)
			}
		})
	}
	work.Wait()
}

func slowUploads(ctx context.Context, p *place, count *atomic.Int64) {
	say := strings.ReplaceAll(postLines, "HOST", p.host) + "Authorization: Bearer " + p.hostile + "\r\nContent-Length: 16000000\r\n\r\n"
	workers(ctx, 16, func(int) {
		if rest(ctx, pause) {
			p.keep(ctx, say, " ", count)
		}
	})
}

// mostSessions is how many the flood begins at most.
const mostSessions = 20_000

func sessionFlood(ctx context.Context, p *place, count *atomic.Int64) {
	client := p.client(false)
	defer client.CloseIdleConnections()
	workers(ctx, 4, func(int) {
		if count.Load() >= mostSessions {
			<-ctx.Done()
		} else if _, err := p.begin(client, p.hostile, "2025-11-25"); err == nil {
			count.Add(1)
		} else {
			rest(ctx, pause)
		}
	})
}

// unreadAnswers asks for as much as it can get, and reads nothing of it.
func unreadAnswers(ctx context.Context, p *place, count *atomic.Int64) {
	client := p.client(false)
	defer client.CloseIdleConnections()
	session, err := p.begin(client, p.hostile, "2025-11-25")
	if err != nil {
		return
	}
	_, _ = p.post(client, p.hostile, session, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"open_toolbox","arguments":{"toolbox":"box"}}}`)
	body := fmt.Sprintf(`{"jsonrpc":"2.0","id":%%d,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"box","server":"lines","name":"echo"},"arguments":{"marker":%q}}}}`,
		strings.Repeat("unread", 200_000))
	var ids atomic.Int64
	workers(ctx, 24, func(int) {
		message := fmt.Sprintf(body, 10+ids.Add(1))
		say := strings.ReplaceAll(postLines, "HOST", p.host) + "Authorization: Bearer " + p.hostile + "\r\nMcp-Session-Id: " + session +
			fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n%s", len(message), message)
		p.unread(ctx, say, count)
	})
}

// unread says something and does not read what comes for it, for some time.
func (p *place) unread(ctx context.Context, say string, count *atomic.Int64) {
	conn, err := net.DialTimeout("tcp", p.host, patience)
	if err != nil {
		rest(ctx, pause)
		return
	}
	defer conn.Close()
	_ = conn.(*net.TCPConn).SetReadBuffer(4096)
	_ = conn.SetWriteDeadline(time.Now().Add(patience))
	if _, err := io.WriteString(conn, say); err == nil {
		count.Add(1)
	}
	for range 20 {
		if !rest(ctx, pause) {
			return
		}
	}
}

func largeBatches(ctx context.Context, p *place, count *atomic.Int64) {
	client := p.client(false)
	defer client.CloseIdleConnections()
	session, err := p.begin(client, p.batching, "2025-03-26")
	if err != nil {
		return
	}
	var batch strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&batch, `,{"jsonrpc":"2.0","id":%d,"method":"tools/list"}`, i)
	}
	message := "[" + batch.String()[1:] + "]"
	workers(ctx, 1, func(int) {
		if _, err := p.post(client, p.batching, session, message); err == nil || strings.HasPrefix(err.Error(), "4") {
			count.Add(1) // answered, or refused
		}
		rest(ctx, pause)
	})
}

// manyKinds declares something else each time, so that no session with a server fits.
func manyKinds(ctx context.Context, p *place, count *atomic.Int64) {
	client := p.client(false)
	defer client.CloseIdleConnections()
	workers(ctx, 1, func(int) {
		message := fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"use_tool","arguments":{"tool":{"toolbox":"box","server":"lines","name":"echo"}},"_meta":{`+
			`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"load","version":"1"},`+
			`"io.modelcontextprotocol/clientCapabilities":{"experimental":{"kind":{"n":%d}}}}}}`, count.Load())
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Address, strings.NewReader(message))
		if err != nil {
			return
		}
		request.Header = p.header(p.hostile, "")
		request.Header.Set("Mcp-Protocol-Version", "2026-07-28")
		request.Header.Set("Mcp-Method", "tools/call")
		request.Header.Set("Mcp-Name", "use_tool")
		if response, err := client.Do(request); err == nil {
			if response.StatusCode == http.StatusOK {
				count.Add(1)
			}
			_, _ = io.Copy(io.Discard, response.Body)
			response.Body.Close()
		}
		rest(ctx, pause)
	})
}

// tlsLanes are clients without a token of a workbench that speaks TLS.
func tlsLanes(connections int) []lane {
	return []lane{
		keeping("connections without a handshake", connections, "", ""),
		keeping("handshakes that break off", connections, "\x16\x03\x01\x02\x00\x01", ""),
		{"HTTP/2 bodies that never come", streams},
	}
}

// streams are requests over few connections whose bodies never come.
func streams(ctx context.Context, p *place, count *atomic.Int64) {
	client := p.client(false)
	defer client.CloseIdleConnections()
	workers(ctx, 200, func(int) {
		body, source := io.Pipe()
		defer source.Close()
		request, err := http.NewRequestWithContext(ctx, http.MethodPost, p.Address, body)
		if err != nil {
			return
		}
		request.Header, request.ContentLength = p.header("", ""), 1000
		if response, err := client.Do(request); err == nil {
			if response.ProtoMajor == 2 {
				count.Add(1)
			}
			response.Body.Close()
		}
		rest(ctx, pause)
	})
}

// certify makes a certificate for the workbench, and returns what its configuration says of it.
func (p *place) certify(t *testing.T, dir string) map[string]any {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: certificate}, "key.pem": {Type: "PRIVATE KEY", Bytes: secret}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	parsed, err := x509.ParseCertificate(certificate)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	p.tls = &tls.Config{RootCAs: roots}
	return map[string]any{"cert": "cert.pem", "key": "key.pem"}
}
