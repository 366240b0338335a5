// Command control-plane is a Kubernetes control plane in one process, for tests and to play with.
//
//	control-plane run --folder FOLDER [...]   etcd, API server, controller manager, scheduler and simulated nodes
//	control-plane kubectl ...                 kubectl of the same version; a link called kubectl does the same
//
// It listens on 127.0.0.1 only, writes below its folder only, and does not wait for the disk: never keep anything in it
// that matters.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"k8s.io/component-base/cli"
	kubectl "k8s.io/kubectl/pkg/cmd"
	"k8s.io/kubectl/pkg/cmd/util"
)

func main() {
	command, arguments := filepath.Base(os.Args[0]), os.Args[1:]
	if command != "kubectl" && len(arguments) > 0 {
		command, arguments = arguments[0], arguments[1:]
	}
	switch command {
	case "kubectl":
		os.Args = append([]string{"kubectl"}, arguments...)
		if err := cli.RunNoErrOutput(kubectl.NewDefaultKubectlCommand()); err != nil {
			util.CheckErr(err)
		}
	case "run":
		if err := run(arguments); err != nil {
			fmt.Fprintln(os.Stderr, "control-plane:", err)
			os.Exit(1)
		}
	default:
		fmt.Fprintln(os.Stderr, "usage: control-plane run --folder FOLDER | control-plane kubectl ...")
		os.Exit(2)
	}
}

func run(arguments []string) error {
	flags := flag.NewFlagSet("run", flag.ExitOnError)
	folder := flags.String("folder", "", "where certificates, data and the kubeconfig are kept; what was there is taken up")
	name := flags.String("name", "", "name of the cluster in the kubeconfig (that of the folder by default)")
	port := flags.Int("port", 0, "port of the API server (that of the last time, or a free one, by default)")
	nodes := flags.Int("nodes", 1, "number of simulated nodes")
	parent := flags.Int("parent", 0, "id of the parent process, with which this one ends (0: it goes on)")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	if *folder == "" {
		return fmt.Errorf("--folder is missing")
	}
	absolute, err := filepath.Abs(*folder)
	if err != nil {
		return err
	}
	if *name == "" {
		*name = filepath.Base(absolute)
	}
	plane, err := newPlane(absolute, *name)
	if err != nil {
		return err
	}
	// The API server would wait up to a minute for watches, those of the controllers among them: the process just ends.
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, os.Interrupt, syscall.SIGTERM)
	failed := make(chan error, 1)
	go func() { failed <- plane.run(*port, *nodes) }()
	select {
	case <-ended:
		return nil
	case <-orphaned(*parent):
		return nil
	case err := <-failed:
		return err
	}
}
