package runtimedir

import "golang.org/x/sys/unix"

func peerUser(fd int) (uid int, known bool, err error) {
	peer, err := unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
	if err != nil {
		return 0, false, err
	}
	return int(peer.Uid), true, nil
}
