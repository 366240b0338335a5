package main

import (
	"crypto"
	"crypto/x509"
	"net"
	"os"
	"path/filepath"
	"time"

	"k8s.io/client-go/util/cert"
	"k8s.io/client-go/util/keyutil"
	"k8s.io/kubernetes/cmd/kubeadm/app/apis/kubeadm"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/kubeconfig"
	"k8s.io/kubernetes/cmd/kubeadm/app/util/pkiutil"
)

const (
	year      = 365 * 24 * time.Hour
	algorithm = kubeadm.EncryptionAlgorithmECDSAP256
)

// An authority issues the certificates of one control plane, with the helpers of kubeadm.
type authority struct {
	folder      string
	certificate *x509.Certificate
	key         crypto.Signer
}

// newAuthority takes up the certificates in the folder, or makes them.
func newAuthority(folder string) (*authority, error) {
	a := &authority{folder: folder}
	var err error
	if a.certificate, a.key, err = pkiutil.TryLoadCertAndKeyFromDisk(folder, "ca"); err == nil {
		return a, nil
	}
	asked := &pkiutil.CertConfig{
		Config:              cert.Config{CommonName: "control-plane"},
		NotAfter:            time.Now().Add(year),
		EncryptionAlgorithm: algorithm,
	}
	if a.certificate, a.key, err = pkiutil.NewCertificateAuthority(asked); err != nil {
		return nil, err
	}
	// The key of the service accounts is no certificate; its public half is derived from it.
	accounts, err := pkiutil.GeneratePrivateKey(algorithm)
	if err != nil {
		return nil, err
	}
	if err := pkiutil.WriteKey(folder, "accounts", accounts); err != nil {
		return nil, err
	}
	server := cert.AltNames{
		DNSNames: []string{"localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"},
		IPs:      []net.IP{net.IPv4(127, 0, 0, 1), net.IPv4(10, 0, 0, 1)},
	}
	if err := a.serve("server", server); err != nil {
		return nil, err
	}
	// Last, because it marks a complete set.
	return a, pkiutil.WriteCertAndKey(folder, "ca", a.certificate, a.key)
}

func (a *authority) serve(name string, names cert.AltNames) error {
	certificate, key, err := a.issue(cert.Config{
		CommonName: name, AltNames: names, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	})
	if err != nil {
		return err
	}
	return pkiutil.WriteCertAndKey(a.folder, name, certificate, key)
}

// kubeconfig writes a file that lets a user of these groups in.
func (a *authority) kubeconfig(file, server, cluster, user string, groups ...string) error {
	certificate, key, err := a.issue(cert.Config{
		CommonName: user, Organization: groups, Usages: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	})
	if err != nil {
		return err
	}
	private, err := keyutil.MarshalPrivateKeyToPEM(key)
	if err != nil {
		return err
	}
	config := kubeconfig.CreateWithCerts(
		server, cluster, user, pkiutil.EncodeCertPEM(a.certificate), private, pkiutil.EncodeCertPEM(certificate),
	)
	// Whoever waits for the file finds it whole.
	unfinished := file + ".unfinished"
	if err := kubeconfig.WriteToDisk(unfinished, config); err != nil {
		return err
	}
	return os.Rename(unfinished, file)
}

func (a *authority) issue(asked cert.Config) (*x509.Certificate, crypto.Signer, error) {
	return pkiutil.NewCertAndKey(a.certificate, a.key, &pkiutil.CertConfig{
		Config: asked, NotAfter: time.Now().Add(year), EncryptionAlgorithm: algorithm,
	})
}

func (a *authority) file(name string) string {
	return filepath.Join(a.folder, name)
}
