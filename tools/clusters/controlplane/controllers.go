package main

import (
	"context"

	manager "k8s.io/kubernetes/cmd/kube-controller-manager/app"
	"k8s.io/kubernetes/cmd/kube-controller-manager/app/options"
)

// control runs the controller manager.
func control(ctx context.Context, p *plane) error {
	asked, err := options.NewKubeControllerManagerOptions()
	if err != nil {
		return err
	}
	known, off, aliases := manager.KnownControllers(), manager.ControllersDisabledByDefault(), manager.ControllerAliases()
	err = parse(asked.Flags(known, off, aliases), map[string]string{
		"kubeconfig":                       p.file("controllers.kubeconfig"),
		"secure-port":                      "0",
		"leader-elect":                     "false",
		"use-service-account-credentials":  "true",
		"service-account-private-key-file": p.authority.file("accounts.key"),
		"root-ca-file":                     p.authority.file("ca.crt"),
		"cluster-signing-cert-file":        p.authority.file("ca.crt"),
		"cluster-signing-key-file":         p.authority.file("ca.key"),
		"node-monitor-grace-period":        "8760h",
		"kube-api-qps":                     "500",
		"kube-api-burst":                   "1000",
		"flex-volume-plugin-dir":           p.file("plugins"), // made below /usr otherwise
	})
	if err != nil {
		return err
	}
	config, err := asked.Config(ctx, known, off, aliases)
	if err != nil {
		return err
	}
	return manager.Run(ctx, config.Complete())
}
