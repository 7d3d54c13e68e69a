//go:build amd64 || arm64

package process

import (
	"bytes"
	"encoding/binary"
	"runtime"
)

const isAMD64 = runtime.GOARCH == "amd64"

// foreignPrograms make one system call of another kind, and then end with 42: a 64-bit program that uses the 32-bit entrance, one
// that uses a number of the x32 ABI, and a 32-bit program.
var foreignPrograms = map[string][]byte{
	// mov eax, 20 (getpid); int 0x80; mov edi, 42; mov eax, 60 (exit); syscall
	"int 0x80": program64([]byte{0xb8, 20, 0, 0, 0, 0xcd, 0x80, 0xbf, 42, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05}),
	// mov eax, 0x40000027 (getpid); syscall; mov edi, 42; mov eax, 60; syscall
	"x32": program64([]byte{0xb8, 0x27, 0, 0, 0x40, 0x0f, 0x05, 0xbf, 42, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05}),
	// mov ebx, 42; mov eax, 1 (exit); int 0x80
	"i386": program32([]byte{0xbb, 42, 0, 0, 0, 0xb8, 1, 0, 0, 0, 0xcd, 0x80}),
}

// program64 returns a 64-bit ELF file with nothing but code.
func program64(code []byte) []byte {
	const base, headers = 0x400000, 64 + 56
	out := &bytes.Buffer{}
	out.Write([]byte{0x7f, 'E', 'L', 'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	put(out, uint16(2), uint16(62), uint32(1), uint64(base+headers), uint64(64), uint64(0), uint32(0), uint16(64), uint16(56), uint16(1), uint16(0), uint16(0), uint16(0))
	put(out, uint32(1), uint32(5), uint64(0), uint64(base), uint64(base), uint64(headers+len(code)), uint64(headers+len(code)), uint64(0x1000))
	out.Write(code)
	return out.Bytes()
}

// program32 is program64 for 32 bits.
func program32(code []byte) []byte {
	const base, headers = 0x8048000, 52 + 32
	out := &bytes.Buffer{}
	out.Write([]byte{0x7f, 'E', 'L', 'F', 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0})
	put(out, uint16(2), uint16(3), uint32(1), uint32(base+headers), uint32(52), uint32(0), uint32(0), uint16(52), uint16(32), uint16(1), uint16(0), uint16(0), uint16(0))
	put(out, uint32(1), uint32(0), uint32(base), uint32(base), uint32(headers+len(code)), uint32(headers+len(code)), uint32(5), uint32(0x1000))
	out.Write(code)
	return out.Bytes()
}

func put(out *bytes.Buffer, values ...any) {
	for _, value := range values {
		_ = binary.Write(out, binary.LittleEndian, value) // into memory
	}
}
