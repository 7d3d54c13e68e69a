//go:build unix

package script

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// certificate makes a certificate NAME.pem and its key NAME-key.pem: [-expired] [-by AUTHORITY] NAME. Without -by it is an
// authority of its own; with it, one for a server and for a client of that name.
func certificate(ts *testscript.TestScript, neg bool, args []string) {
	var authority string
	ends := time.Now().Add(90 * 24 * time.Hour)
	for len(args) > 1 {
		switch {
		case args[0] == "-expired":
			ends = time.Now().Add(-time.Hour)
			args = args[1:]
		case args[0] == "-by" && len(args) > 2:
			authority, args = args[1], args[2:]
		default:
			ts.Fatalf("usage: certificate [-expired] [-by AUTHORITY] NAME")
		}
	}
	if len(args) != 1 || neg {
		ts.Fatalf("usage: certificate [-expired] [-by AUTHORITY] NAME")
	}
	name := args[0]
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	ts.Check(err)
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	ts.Check(err)
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: ends,
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := template, key
	if authority != "" {
		pair, err := tls.LoadX509KeyPair(ts.MkAbs(authority+".pem"), ts.MkAbs(authority+"-key.pem"))
		ts.Check(err)
		parent, signer = pair.Leaf, pair.PrivateKey.(*ecdsa.PrivateKey)
	} else {
		template.IsCA, template.BasicConstraintsValid = true, true
		template.KeyUsage |= x509.KeyUsageCertSign
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
	ts.Check(err)
	rawKey, err := x509.MarshalPKCS8PrivateKey(key)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs(name+".pem"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: raw}), 0o600))
	ts.Check(os.WriteFile(ts.MkAbs(name+"-key.pem"), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: rawKey}), 0o600))
}
