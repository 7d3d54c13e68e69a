package page

import (
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"

	"github.com/mcp-workbench/mcp-workbench/internal/access/httpauth"
)

// errPeerUnknown is the error if the system does not say whose a connection is.
var errPeerUnknown = errors.New("the system does not say which user the browser runs as")

// strangerError is the error if a connection is of another user.
type strangerError struct{ user, own int }

func (e *strangerError) Error() string {
	return fmt.Sprintf("the browser runs as another user (%d) than the workbench (%d)", e.user, e.own)
}

// peerCheck checks that the program at the other end of a connection is of this user or of root.
type peerCheck func(local, remote netip.AddrPort) error

// checkPeer refuses a link to whom it is not for. Where the system says that the connection is of another user, every link
// is refused: whoever has it then found it somewhere. Where the system does not say, only a link is refused that a program
// got as an argument, which every user can read in the list of processes: a browser can be of another network namespace,
// or reach WSL from Windows, and a link that was only printed was in no such list. Proxies are no exception: the
// connection of ssh -L is of the user who logged in, and those of container engines and WSL are of root.
func (p *Page) checkPeer(r *http.Request, isExposed bool) (refusal *problem) {
	err := errPeerUnknown
	local, hasLocal := r.Context().Value(http.LocalAddrContextKey).(net.Addr)
	peer := httpauth.Peer(r) // not the client that a proxy names: any program here can be such a proxy
	if remote, parsed := netip.ParseAddrPort(peer); parsed == nil && hasLocal {
		if own, parsed := netip.ParseAddrPort(local.String()); parsed == nil {
			err = p.peers(own, remote)
		}
	}
	if stranger, ok := errors.AsType[*strangerError](err); ok {
		p.options.Log.Warn("refused to open the page for another user", "user", stranger.user, "remote", peer)
		return &problem{
			Error: "This page is not for you: " + stranger.Error(), Needs: "link",
			Hint: "Run the browser and the workbench as the same user, or reach the page with: ssh -L, as that user.",
		}
	}
	if err != nil && isExposed {
		return &problem{
			Error: "This link is refused, since other users can see it in the list of processes, and " + err.Error(), Needs: "link",
			Hint: "Open a link that was only printed. Where 'mcp-workbench ui' runs, the Enter key prints one; so does 'mcp-workbench ui --no-open'.",
		}
	}
	return nil
}
