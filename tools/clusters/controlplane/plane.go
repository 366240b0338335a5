package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	cliflag "k8s.io/component-base/cli/flag"

	"github.com/spf13/pflag"
)

// A plane is a control plane in its folder:
//
//	kubeconfig        of an administrator, written before the server is ready
//	ready             the address of the server, once pods can be created
//	port, pid         of the last start
//	certificates/, etcd/, controllers.kubeconfig, scheduler.kubeconfig
type plane struct {
	folder    string
	name      string
	authority *authority
}

func newPlane(folder, name string) (*plane, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	if err := lock(folder); err != nil {
		return nil, err
	}
	if err := os.Remove(filepath.Join(folder, "ready")); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	authority, err := newAuthority(filepath.Join(folder, "certificates"))
	return &plane{folder, name, authority}, err
}

// run starts everything, and returns when something has failed.
func (p *plane) run(port, nodes int) error {
	ctx := context.Background()
	listener, err := p.listen(port)
	if err != nil {
		return err
	}
	server := "https://" + listener.Addr().String()
	if err := p.writeKubeconfigs(server); err != nil {
		return err
	}
	etcd, err := startEtcd(p.folder)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	start := func(component string, run func() error) {
		go func() { failed <- fmt.Errorf("%s has ended: %w", component, run()) }()
	}
	start("API server", func() error { return serve(ctx, p.authority, etcd, listener) })
	client, err := p.client()
	if err != nil {
		return err
	}
	go func() {
		if err := p.complete(ctx, client, nodes, start); err != nil {
			failed <- err
			return
		}
		if err := os.WriteFile(p.file("ready"), []byte(server+"\n"), 0o600); err != nil {
			failed <- err
		}
	}()
	return <-failed
}

// complete starts what needs an API server, and returns when pods can be created.
func (p *plane) complete(
	ctx context.Context, client kubernetes.Interface, nodes int, start func(string, func() error),
) error {
	if err := until(ctx, func() bool { return answers(ctx, client) }); err != nil {
		return fmt.Errorf("API server: %w", err)
	}
	start("controller manager", func() error { return control(ctx, p) })
	start("scheduler", func() error { return schedule(ctx, p) })
	start("simulation of nodes", func() error { return simulate(ctx, p) })
	for i := range nodes {
		if err := addNode(ctx, client, fmt.Sprintf("node-%d", i)); err != nil {
			return err
		}
	}
	if err := until(ctx, func() bool { return takesPods(ctx, client, nodes) }); err != nil {
		return fmt.Errorf("nodes: %w", err)
	}
	return nil
}

// listen takes the port of the last time where no other is asked for, so that kubeconfigs stay right.
func (p *plane) listen(port int) (net.Listener, error) {
	if last, err := os.ReadFile(p.file("port")); err == nil && port == 0 {
		if port, err = strconv.Atoi(strings.TrimSpace(string(last))); err != nil {
			return nil, err
		}
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		return nil, err
	}
	chosen := listener.Addr().(*net.TCPAddr).Port
	return listener, os.WriteFile(p.file("port"), []byte(strconv.Itoa(chosen)+"\n"), 0o600)
}

func (p *plane) writeKubeconfigs(server string) error {
	return errors.Join(
		p.authority.kubeconfig(p.file("controllers.kubeconfig"), server, p.name, "system:kube-controller-manager"),
		p.authority.kubeconfig(p.file("scheduler.kubeconfig"), server, p.name, "system:kube-scheduler"),
		p.authority.kubeconfig(p.file("kubeconfig"), server, p.name, "admin", "system:masters"),
	)
}

func (p *plane) client() (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", p.file("kubeconfig"))
	if err != nil {
		return nil, err
	}
	return kubernetes.NewForConfig(config)
}

func (p *plane) file(name string) string {
	return filepath.Join(p.folder, name)
}

func until(ctx context.Context, met func() bool) error {
	return wait.PollUntilContextTimeout(ctx, 25*time.Millisecond, 5*time.Minute, true,
		func(context.Context) (bool, error) { return met(), nil })
}

func answers(ctx context.Context, client kubernetes.Interface) bool {
	_, err := client.Discovery().RESTClient().Get().AbsPath("/readyz").Timeout(time.Second).DoRaw(ctx)
	return err == nil
}

// takesPods is true once pods can have an account and, if there are to be any, a node.
func takesPods(ctx context.Context, client kubernetes.Interface, nodes int) bool {
	if _, err := client.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{}); err != nil {
		return false
	}
	found, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return false
	}
	ready := 0
	for _, node := range found.Items {
		for _, condition := range node.Status.Conditions {
			// A node that was just made is tainted until the controller manager has seen it ready.
			if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue && len(node.Spec.Taints) == 0 {
				ready++
			}
		}
	}
	return ready >= nodes
}

func addNode(ctx context.Context, client kubernetes.Interface, name string) error {
	labels := map[string]string{corev1.LabelHostname: name, corev1.LabelOSStable: "linux", corev1.LabelArchStable: "amd64"}
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}
	_, err := client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	return err
}

// parse gives options their values as the command line of the component would.
func parse(sets cliflag.NamedFlagSets, values map[string]string) error {
	all := pflag.NewFlagSet("", pflag.ContinueOnError)
	for _, one := range sets.FlagSets {
		all.AddFlagSet(one)
	}
	for name, value := range values {
		if err := all.Set(name, value); err != nil {
			return fmt.Errorf("--%s=%s: %w", name, value, err)
		}
	}
	return nil
}
