package main

import (
	"context"
	"net"

	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/kubernetes/cmd/kube-apiserver/app"
	"k8s.io/kubernetes/cmd/kube-apiserver/app/options"
)

// serve runs the API server on a listener, which is there before, so that nobody else can take its port.
func serve(ctx context.Context, authority *authority, etcd string, listener net.Listener) error {
	asked := options.NewServerRunOptions()
	err := parse(asked.Flags(), map[string]string{
		"etcd-servers":                     etcd,
		"advertise-address":                "127.0.0.1",
		"tls-cert-file":                    authority.file("server.crt"),
		"tls-private-key-file":             authority.file("server.key"),
		"client-ca-file":                   authority.file("ca.crt"),
		"anonymous-auth":                   "false",
		"authorization-mode":               "Node,RBAC",
		"service-account-issuer":           "https://kubernetes.default.svc",
		"service-account-key-file":         authority.file("accounts.key"),
		"service-account-signing-key-file": authority.file("accounts.key"),
		"service-cluster-ip-range":         "10.0.0.0/16",
		"endpoint-reconciler-type":         "none",
		"enable-priority-and-fairness":     "false",
	})
	if err != nil {
		return err
	}
	asked.SecureServing.Listener = listener
	if err := asked.GenericServerRunOptions.ComponentGlobalsRegistry.Set(); err != nil {
		return err
	}
	complete, err := asked.Complete(ctx)
	if err != nil {
		return err
	}
	if wrong := complete.Validate(); len(wrong) > 0 {
		return utilerrors.NewAggregate(wrong)
	}
	return app.Run(ctx, complete)
}
