package webclient

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io/fs"
)

// AuthoritiesOf returns the certificate authorities of a file, and no others. Errors do not quote its name: some people
// put the certificate itself there.
func AuthoritiesOf(file string) (*x509.CertPool, error) {
	certificates, err := readBounded(file)
	if err != nil {
		return nil, withoutName(err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(certificates) {
		return nil, errors.New("the file holds no certificate in PEM format")
	}
	return pool, nil
}

// KeyPairOf returns the certificate of a client and its key, of two files. Errors quote neither names nor contents.
func KeyPairOf(certificateFile, keyFile string) (*tls.Certificate, error) {
	certificate, err := readBounded(certificateFile)
	if err != nil {
		return nil, withoutName(err)
	}
	key, err := readBounded(keyFile)
	if err != nil {
		return nil, errors.New("the key: " + withoutName(err).Error())
	}
	pair, err := tls.X509KeyPair(certificate, key)
	if err != nil {
		return nil, errors.New("the files do not hold a certificate and its key, both in PEM format")
	}
	return &pair, nil
}

// withoutName returns why a file cannot be read.
func withoutName(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok {
		return path.Err
	}
	return errors.New("it cannot be read")
}
