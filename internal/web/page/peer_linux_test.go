package page

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

const socketTable = `  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1D3C 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0000000000000000 100 0 0 10 0
   1: 0100007F:1D3C 0100007F:C350 01 00000000:00000000 00:00000000 00000000  1000        0 2 1 0000000000000000 20 4 30 10 -1
   2: 0100007F:C350 0100007F:1D3C 01 00000000:00000000 00:00000000 00000000  1001        0 3 1 0000000000000000 20 4 30 10 -1
   3: 0100007F:C351 0100007F:1D3C 01 00000000:00000000 00:00000000 00000000     0        0 4 1 0000000000000000 20 4 30 10 -1
   4: 0100007F:C352 0100007F:1D3C 06 00000000:00000000 03:00001777 00000000     0        0 0 3 0000000000000000
   5: 0100007F:C353 0200007F:1D3C 01 00000000:00000000 00:00000000 00000000  1002        0 5 1
   6: 0000000000000000FFFF00000100007F:C354 0000000000000000FFFF00000100007F:1D3C 01 00000000:00000000 00:00000000 00000000  1003        0 6 1
   7: 00000000000000000000000001000000:C355 00000000000000000000000001000000:1D3C 01 00000000:00000000 00:00000000 00000000  1004        0 7 1
   8: 0100007F:C356 0100007F:1D3C
   9: zz:C356 0100007F:1D3C 01 00000000:00000000 00:00000000 00000000  1005        0 8 1
`

func TestOwnerOfASocket(t *testing.T) {
	if strings.HasPrefix(hostOrder(), "big") {
		t.Skip("the table is that of a machine with the other order of bytes")
	}
	for _, test := range []struct {
		from, to string
		want     int
	}{
		{"127.0.0.1:50000", "127.0.0.1:7484", 1001}, // not the own end of the connection, which is before it
		{"127.0.0.1:7484", "127.0.0.1:50000", 1000},
		{"127.0.0.1:50001", "127.0.0.1:7484", 0},
		{"127.0.0.1:50002", "127.0.0.1:7484", -1}, // closed by its program: that it is shown as of root means nothing
		{"127.0.0.1:50003", "127.0.0.1:7484", -1},
		{"127.0.0.1:50003", "127.0.0.2:7484", 1002},
		{"127.0.0.1:50004", "127.0.0.1:7484", 1003},
		{"[::ffff:127.0.0.1]:50000", "127.0.0.1:7484", 1001},
		{"[::1]:50005", "[::1]:7484", 1004},
		{"127.0.0.1:50006", "127.0.0.1:7484", -1},
	} {
		got, err := ownerOf(strings.NewReader(socketTable), netip.MustParseAddrPort(test.from), netip.MustParseAddrPort(test.to))
		if err != nil || got != test.want {
			t.Errorf("%s to %s: %d, %v", test.from, test.to, got, err)
		}
	}
}

// hostOrder is the order of bytes of this machine, as text.
func hostOrder() string {
	if isAddress("0100007F:0001", netip.MustParseAddrPort("127.0.0.1:1")) {
		return "little endian"
	}
	return "big endian"
}

// connected returns both ends of a connection.
func connected(t *testing.T, listen, dial string) (server, client net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", listen)
	if err != nil {
		t.Skip(err) // no IPv6
	}
	defer listener.Close()
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	if client, err = net.Dial("tcp", net.JoinHostPort(dial, port)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Close() })
	if server, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	return server, client
}

func TestOwnConnectionsAreFound(t *testing.T) {
	for _, test := range []struct{ listen, dial string }{{"127.0.0.1:0", "127.0.0.1"}, {"[::1]:0", "::1"}, {"[::]:0", "127.0.0.1"}} {
		t.Run(test.listen, func(t *testing.T) {
			server, client := connected(t, test.listen, test.dial)
			local, remote := netip.MustParseAddrPort(server.LocalAddr().String()), netip.MustParseAddrPort(server.RemoteAddr().String())
			if err := checkPeer(local, remote); err != nil {
				t.Errorf("of %s: %v", remote, err)
			}
			_ = client.Close()
			if err := checkPeer(local, remote); !errors.Is(err, errPeerUnknown) {
				t.Errorf("of %s once it is closed: %v", remote, err)
			}
		})
	}
}

// openAt opens the page over a connection, and returns the status and the answer.
func openAt(url, code string) (status int, answer string, err error) {
	r, err := http.NewRequest(http.MethodPost, url+"/ui/api/session", strings.NewReader(`{"code":"`+code+`"}`))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return response.StatusCode, string(text), err
}

// A link is for the user who got it. Another one who reads it in the list of processes is refused, and it still works.
func TestAnotherUserCannotOpenThePage(t *testing.T) {
	s := startSite(t, runtime(t))
	for _, link := range []func(string) string{s.page.Link, s.page.LinkToPass} {
		code := codeOf(t, link("http://127.0.0.1:1"))
		if os.Getuid() == 0 {
			visit := exec.Command("/proc/self/exe", "-test.run=^TestVisit$", "-test.v")
			visit.Env = append(os.Environ(), visitVariable+"="+s.url+" "+code)
			visit.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
			visit.Dir = "/"
			output, err := visit.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "403 ") || !strings.Contains(string(output), "another user (65534) than the workbench ("+strconv.Itoa(os.Geteuid())+")") {
				t.Errorf("another user: %v\n%s", err, output)
			}
		}
		if status, text, err := openAt(s.url, code); err != nil || status != http.StatusOK || !strings.Contains(text, `"token"`) {
			t.Errorf("%d %s %v", status, text, err)
		}
	}
}

const visitVariable = "MCP_WORKBENCH_TEST_VISIT"

// TestVisit is the other user of TestAnotherUserCannotOpenThePage.
func TestVisit(t *testing.T) {
	url, code, ok := strings.Cut(os.Getenv(visitVariable), " ")
	if !ok {
		t.Skip("it is part of another test")
	}
	status, text, err := openAt(url, code)
	t.Log(status, text, err)
}
