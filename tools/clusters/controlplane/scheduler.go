package main

import (
	"context"

	"k8s.io/kubernetes/cmd/kube-scheduler/app"
	"k8s.io/kubernetes/cmd/kube-scheduler/app/options"
)

// schedule runs the scheduler.
func schedule(ctx context.Context, p *plane) error {
	asked := options.NewOptions()
	err := parse(*asked.Flags, map[string]string{
		"kubeconfig":     p.file("scheduler.kubeconfig"),
		"secure-port":    "0",
		"leader-elect":   "false",
		"kube-api-qps":   "500",
		"kube-api-burst": "1000",
	})
	if err != nil {
		return err
	}
	config, scheduler, err := app.Setup(ctx, asked)
	if err != nil {
		return err
	}
	return app.Run(ctx, config, scheduler)
}
