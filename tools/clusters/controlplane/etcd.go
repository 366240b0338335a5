package main

import (
	"fmt"
	"net/url"
	"path/filepath"

	"go.etcd.io/etcd/server/v3/embed"
	"go.etcd.io/etcd/server/v3/storage/wal"
)

// longest is the length of a path that all systems take for a socket.
const longest = 100

// startEtcd returns the address of an etcd of its own, which listens on sockets in the folder.
func startEtcd(folder string) (string, error) {
	socket := filepath.Join(folder, "etcd.sock")
	if len(socket) > longest {
		return "", fmt.Errorf("%s: a path of over %d characters cannot be a socket; choose a shorter folder", socket, longest)
	}
	config := embed.NewConfig()
	config.Dir = filepath.Join(folder, "etcd")
	config.LogLevel = "error"
	config.UnsafeNoFsync = true
	wal.SegmentSizeBytes = 4 << 20 // it is allocated in advance: 64 MB, twice, by default
	clients := url.URL{Scheme: "unix", Path: socket}
	peers := url.URL{Scheme: "unix", Path: filepath.Join(folder, "peer.sock")}
	config.ListenClientUrls, config.ListenPeerUrls = []url.URL{clients}, []url.URL{peers}
	// What is advertised must have a host and a port; a lone member calls nobody there.
	config.AdvertiseClientUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2379"}}
	config.AdvertisePeerUrls = []url.URL{{Scheme: "http", Host: "127.0.0.1:2380"}}
	config.InitialCluster = config.InitialClusterFromName(config.Name)
	config.TickMs, config.ElectionMs = 10, 100 // the lone member elects itself at once
	started, err := embed.StartEtcd(config)
	if err != nil {
		return "", fmt.Errorf("etcd: %w", err)
	}
	<-started.Server.ReadyNotify()
	return clients.String(), nil
}
