package webclient

import (
	"crypto/x509"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
)

// Bounds of what is read from the files that the environment names.
const (
	maxAuthorityFile  = 16 << 20 // size of a file with certificates; a larger one is ignored
	maxAuthorityFiles = 4096     // files of a folder in SSL_CERT_DIR that are read
)

// authorities returns the certificate authorities that are accepted; nil means those of the system. The files that the
// environment names are accepted beside the system's. Where Go itself reads SSL_CERT_FILE and SSL_CERT_DIR, "the
// system's" are what they name.
func authorities(environ []string, log *slog.Logger) *x509.CertPool {
	var files, folders []string
	if file := variable(environ, "SSL_CERT_FILE"); file != "" && !isReadByGo("SSL_CERT_FILE", file) {
		files = append(files, file)
	}
	if list := variable(environ, "SSL_CERT_DIR"); list != "" && !isReadByGo("SSL_CERT_DIR", list) {
		folders = filepath.SplitList(list)
	}
	extra := variable(environ, "NODE_EXTRA_CA_CERTS")
	if len(files) == 0 && len(folders) == 0 && extra == "" {
		return nil
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, file := range files {
		addAuthorities(pool, "SSL_CERT_FILE", file, log)
	}
	for _, folder := range folders {
		addFolder(pool, folder, log)
	}
	if extra != "" {
		addAuthorities(pool, "NODE_EXTRA_CA_CERTS", extra, log)
	}
	return pool
}

// isReadByGo reports whether crypto/x509 reads a variable by itself: it looks at the process's own environment, and not
// on systems with a verifier of their own.
func isReadByGo(name, value string) bool {
	switch runtime.GOOS {
	case "darwin", "ios", "windows", "plan9":
		return false
	}
	return os.Getenv(name) == value
}

func addAuthorities(pool *x509.CertPool, variable, file string, log *slog.Logger) {
	certificates, err := readBounded(file)
	if err != nil {
		log.Warn("ignored "+variable, "reason", err)
		return
	}
	if !pool.AppendCertsFromPEM(certificates) {
		log.Warn("ignored "+variable, "reason", "the file holds no certificate", "file", file)
	}
}

// addFolder adds all certificates of a folder. Other files may be there as well.
func addFolder(pool *x509.CertPool, folder string, log *slog.Logger) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		log.Warn("ignored a folder of SSL_CERT_DIR", "reason", err)
		return
	}
	for _, entry := range entries[:min(len(entries), maxAuthorityFiles)] {
		if certificates, err := readBounded(filepath.Join(folder, entry.Name())); err == nil {
			pool.AppendCertsFromPEM(certificates)
		}
	}
}

func readBounded(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() || info.Size() > maxAuthorityFile {
		return nil, &os.PathError{Op: "read", Path: file, Err: errors.New("not a file of at most 16 MiB")}
	}
	return os.ReadFile(file)
}
