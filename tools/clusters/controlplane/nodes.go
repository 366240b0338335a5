package main

import (
	"context"
	"os"
	"strings"

	"github.com/spf13/pflag"
	"sigs.k8s.io/kwok/kustomize/stage/node/fast"
	pod "sigs.k8s.io/kwok/kustomize/stage/pod/fast"
	"sigs.k8s.io/kwok/pkg/config"
	kwok "sigs.k8s.io/kwok/pkg/kwok/cmd"
	"sigs.k8s.io/kwok/pkg/log"
)

// simulate plays the kubelets with kwok: pods get ready at once, jobs complete, and no image is ever pulled.
func simulate(ctx context.Context, p *plane) error {
	stages := []string{fast.DefaultNodeInit, pod.DefaultPodReady, pod.DefaultPodComplete, pod.DefaultPodDelete}
	if err := os.WriteFile(p.file("stages.yaml"), []byte(strings.Join(stages, "\n---\n")), 0o600); err != nil {
		return err
	}
	ctx = log.NewContext(ctx, log.NewLogger(os.Stderr, log.LevelWarn))
	// The stages reach kwok through the context, which only this function fills, from the arguments of the process.
	flags := pflag.NewFlagSet("", pflag.ContinueOnError)
	os.Args = []string{"kwok", "--config=" + p.file("stages.yaml")}
	ctx, err := config.InitFlags(ctx, flags)
	if err != nil {
		return err
	}
	command := kwok.NewCommand(ctx)
	command.Version = "" // else it wants the flag --version, which Kubernetes has taken
	// Without leases: those of a process that was killed would keep its successor from the nodes for a while. Nobody
	// misses them, as the controller manager waits for a year before it takes a node for dead.
	command.SetArgs([]string{
		"--kubeconfig=" + p.file("kubeconfig"), "--manage-all-nodes=true",
		"--node-lease-duration-seconds=0", "--cidr=10.1.0.0/16", "--node-ip=127.0.0.1",
	})
	return command.ExecuteContext(ctx)
}
