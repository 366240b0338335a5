"""A real Karmada hub with real members: control planes of this machine, and Karmada's programs where PATH has them.

The members' nodes are simulated, and so are their pods, which get ready at once. Members are joined in push mode.
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import attrs
import yaml
from httpx2 import Client

from tests.clusters.documents import Document, documents, judging, namespaces_of
from tests.control_planes import built_or_skip
from tests.hubs import karmada_api
from tests.hubs.processes import Program, free_port, hubs_or_skip, until
from tests.shared import shared
from tools.clusters.cluster import Cluster, ControlPlane, start_all

AGGREGATED, WEBHOOK, MANAGER, SCHEDULER, CLIENT = PROGRAMS = (
    "karmada-aggregated-apiserver",
    "karmada-webhook",
    "karmada-controller-manager",
    "karmada-scheduler",
    "karmadactl",
)
CLUSTERS = "clusters.cluster.karmada.io"
_GONE = "the server is currently unable to handle the request"
_QUICK: Mapping[str, Sequence[str]] = {
    AGGREGATED: ["--kube-api-qps=500", "--kube-api-burst=1000"],
    WEBHOOK: ["--kube-api-qps=500", "--kube-api-burst=1000"],
    MANAGER: [
        "--leader-elect=false",
        "--cluster-status-update-frequency=2s",
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
        "--cluster-api-qps=500",
        "--cluster-api-burst=1000",
    ],
    SCHEDULER: ["--leader-elect=false", "--kube-api-qps=500", "--kube-api-burst=1000"],
}
"""Flags that only make things faster: no wait for a lease, no small budget of requests."""


@attrs.frozen
class KarmadaMember:
    """A member cluster as it is joined.

    Attributes:
        nodes: number of its nodes, each with what ``capacity`` says.
        taints: of the Cluster, as ``key=value:Effect``; set once it is ready.
    """

    name: str
    provider: str = ""
    region: str = ""
    zones: Sequence[str] = ()
    labels: Mapping[str, str] = attrs.field(factory=dict)
    taints: Sequence[str] = ()
    nodes: int = 1
    capacity: Mapping[str, str] = attrs.field(
        factory=lambda: {"cpu": "6", "memory": "64Gi", "pods": "100"}
    )

    @property
    def places(self) -> list[str]:
        """The options of ``karmadactl join`` that say where it is."""
        told = {"provider": self.provider, "region": self.region, "zones": ",".join(self.zones)}
        return [f"--cluster-{name}={value}" for name, value in told.items() if value]


@attrs.define
class KarmadaHub:
    """A hub with its members.

    Attributes:
        hub: Karmada's API server.
        members: the members' control planes by name.
        programs: Karmada's programs by name; they can be stopped and started again.
    """

    hub: ControlPlane
    members: Mapping[str, ControlPlane]
    programs: Mapping[str, Program]
    _client: Client
    _templates: dict[tuple[str, str], str] = attrs.field(factory=dict, init=False)

    def apply(self, wanted: Iterable[Document]) -> None:
        """Make objects as ``kubectl apply --server-side`` does, the namespaces that they are in before them.

        Raises:
            subprocess.CalledProcessError: one is refused; ``stderr`` says why.
        """
        found = list(wanted)
        apply(self.hub, [*namespaces_of(found), *found])
        self.watch((item["apiVersion"], item["kind"]) for item in found)

    def watch(self, kinds: Iterable[tuple[str, str]]) -> None:
        """Settle no more before objects of these kinds, each with its apiVersion, have come to rest."""
        for api_version, kind in set(kinds):
            self._templates[api_version, kind] = self._lists(api_version)[kind]

    def delete(self, unwanted: Iterable[Document]) -> None:
        """Delete objects, and return without waiting for what hangs on them."""
        apply(self.hub, list(unwanted), "delete", "--ignore-not-found", "--wait=false")

    def settle(self, quiet: float = 3.0, patience: float = 120.0) -> None:
        """Return when no policy, template, binding or Work has changed for a while, and none is being deleted.

        The garbage collector looks for new kinds every 30 seconds: it takes so long to learn of bindings at first.

        Args:
            quiet: seconds without a change.
            patience: seconds until it gives up.

        Raises:
            TimeoutError: changes go on.
        """
        seen, since, restless = self._objects(), time.monotonic(), dict[str, Document]()

        def still() -> bool:
            nonlocal seen, since, restless
            now = self._objects()
            changed = {uid for uid in now.keys() | seen.keys() if now.get(uid) != seen.get(uid)}
            if moving := changed | self._left(now):
                restless = {uid: now.get(uid) or seen[uid] for uid in moving}
                seen, since = now, time.monotonic()
            return time.monotonic() - since >= quiet

        try:
            until(still, "settled", patience)
        except TimeoutError as error:
            names = sorted(
                f"{item.get('namespace', '')}/{item['name']}" for item in restless.values()
            )
            raise TimeoutError(f"{error}: {', '.join(names)}: {restless}") from None

    def _objects(self) -> dict[str, Document]:
        """Metadata of all objects that Karmada changes, by uid. Asked for over one connection: kubectl is slow."""
        found: dict[str, Document] = {}
        for path in (*karmada_api.WATCHED, *self._templates.values()):
            listed = self._get(
                path, "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
            )["items"]
            found |= {item["metadata"]["uid"]: item["metadata"] for item in listed or ()}
        return found

    def _left(self, found: Mapping[str, Document]) -> set[str]:
        """The objects, by uid, that are going: they are being deleted, or their owner has gone."""
        ownerless = {
            uid
            for uid, item in found.items()
            for owner in item.get("ownerReferences", ())
            if (owner["apiVersion"], owner["kind"]) in self._templates and owner["uid"] not in found
        }
        return ownerless | {uid for uid, item in found.items() if "deletionTimestamp" in item}

    def _lists(self, api_version: str) -> dict[str, str]:
        """Where the objects of each kind are listed."""
        root = f"/apis/{api_version}" if "/" in api_version else f"/api/{api_version}"
        served = self._get(root)["resources"]
        return {
            item["kind"]: f"{root}/{item['name']}" for item in served if "/" not in item["name"]
        }

    def _get(self, path: str, accepted: str = "application/json") -> Document:
        while (answer := self._client.get(path, headers={"Accept": accepted})).status_code == 429:
            time.sleep(0.2)  # a definition is served a moment before its objects are
        found: Document = answer.raise_for_status().json()
        return found


@contextmanager
def karmada_hub(
    members: Sequence[KarmadaMember],
    *,
    gates: Mapping[str, bool] | None = None,
    flags: Mapping[str, Sequence[str]] | None = None,
    definitions: Path | None = None,
    folder: Path | None = None,
) -> Iterator[KarmadaHub]:
    """A hub whose members are ready; all of it ends with the block.

    Skips the test where a program or the control plane is missing, or fails it if ``FLEET_REQUIRE_HUBS=1``.

    Args:
        gates: feature gates of the webhook, the controller manager and the scheduler.
        flags: further flags by program, such as ``{MANAGER: ["--enable-no-execute-taint-eviction=true"]}``.
        definitions: folder of all CustomResourceDefinitions. By default those of the shared folder, and placeholders
            for the kinds without which Karmada does not start.
        folder: where data, certificates and logs are kept; by default they go with the block. Its path is short,
            because there are sockets in it.

    Raises:
        RuntimeError: a program ends, or a member does not get ready.
    """
    hubs_or_skip(*PROGRAMS)
    binary = built_or_skip()
    wanted = documents(definitions or shared("data/crds/karmada"))
    if definitions is None:
        wanted += karmada_api.placeholders()
    with ExitStack() as stack:
        root = folder or Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fleet-")))
        hub = ControlPlane.within(root / "karmada", binary)
        planes = {
            member.name: ControlPlane.within(root / member.name, binary) for member in members
        }
        for plane in (hub, *planes.values()):
            stack.callback(plane.kill)
        start_all([hub, *planes.values()])
        prepare(hub, wanted)
        programs = _start(hub, gates or {}, flags or {}, stack)
        join(hub, [(member, planes[member.name]) for member in members], programs[MANAGER])
        yield KarmadaHub(hub, planes, programs, stack.enter_context(judging(hub)).client)


def apply(cluster: Cluster, found: Sequence[Document], *command: str) -> None:
    """Hand objects to kubectl: ``apply --server-side`` by default."""
    command = command or ("apply", "--server-side", "--force-conflicts", "--field-manager=user")
    with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
        yaml.safe_dump_all(found, file)
        file.flush()
        cluster.kubectl(*command, "-f", file.name)


def prepare(hub: ControlPlane, definitions: Sequence[Document]) -> None:
    """Make an API server into Karmada's, as far as it is without programs: definitions, and no workload runs there."""
    _rest(hub)
    apply(hub, [*definitions, *karmada_api.NAMESPACES, *karmada_api.ROLES])
    hub.kubectl("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")


def _rest(hub: ControlPlane) -> None:
    """Take their rights from the controllers that Karmada does not run, and from the scheduler of pods.

    A template of a Deployment would have pods on the hub otherwise. The annotation keeps it so after a restart.
    """
    bindings = [
        item
        for item in hub.get("clusterrolebindings")["items"]
        if karmada_api.must_rest(item["metadata"]["name"])
    ]
    for binding in bindings:
        binding["subjects"] = []
        binding["metadata"].setdefault("annotations", {})[
            "rbac.authorization.kubernetes.io/autoupdate"
        ] = "false"
    apply(hub, bindings, "replace")


def _start(
    hub: ControlPlane,
    gates: Mapping[str, bool],
    flags: Mapping[str, Sequence[str]],
    stack: ExitStack,
) -> dict[str, Program]:
    assert not set(flags) - set(PROGRAMS), flags
    certificates, ports = (
        hub.folder / "certificates",
        {AGGREGATED: free_port(), WEBHOOK: free_port()},
    )
    switched = [
        f"--feature-gates={','.join(f'{name}={str(on).lower()}' for name, on in gates.items())}"
    ] * bool(gates)
    quiet = ["--metrics-bind-address=0", "--health-probe-bind-address=0"]
    given = {
        AGGREGATED: [
            f"--authentication-kubeconfig={hub.kubeconfig}",
            f"--authorization-kubeconfig={hub.kubeconfig}",
            "--authentication-skip-lookup=true",  # the API server calls it without a certificate
            "--authorization-always-allow-paths=/apis,/apis/*,/openapi/*,/readyz",
            f"--etcd-servers=unix://{hub.folder / 'etcd.sock'}",
            f"--tls-cert-file={certificates / 'server.crt'}",
            f"--tls-private-key-file={certificates / 'server.key'}",
            "--bind-address=127.0.0.1",
            f"--secure-port={ports[AGGREGATED]}",
        ],
        WEBHOOK: [
            "--bind-address=127.0.0.1",
            f"--secure-port={ports[WEBHOOK]}",
            f"--cert-dir={certificates}",
            "--tls-cert-file-name=server.crt",
            "--tls-private-key-file-name=server.key",
            *quiet,
            *switched,
        ],
        MANAGER: [*quiet, *switched],
        SCHEDULER: [*quiet, *switched],
    }
    programs = {}
    for name, arguments in given.items():
        command = [
            name,
            f"--kubeconfig={hub.kubeconfig}",
            *arguments,
            *_QUICK[name],
            *flags.get(name, ()),
        ]
        programs[name] = Program(command, hub.folder / f"{name}.log")
        stack.callback(programs[name].stop)
    programs[AGGREGATED].start()
    programs[WEBHOOK].start()
    apply(hub, karmada_api.aggregation(ports[AGGREGATED]))
    programs[AGGREGATED].until(lambda: _answers(hub), "serving Clusters")
    programs[WEBHOOK].until(lambda: _listens(ports[WEBHOOK]), "listening")
    apply(hub, karmada_api.webhooks(ports[WEBHOOK], (certificates / "ca.crt").read_bytes()))
    programs[MANAGER].start()
    programs[SCHEDULER].start()
    return programs


def join(
    hub: ControlPlane, members: Sequence[tuple[KarmadaMember, ControlPlane]], manager: Program
) -> None:
    """Join members, and return when Karmada finds them well."""

    def enter(karmada_member: KarmadaMember, plane: ControlPlane) -> None:
        apply(
            plane,
            [_node(f"node-{i}", karmada_member.capacity) for i in range(karmada_member.nodes)],
            "replace",
            "--force",
        )
        to = ["--kubeconfig", str(hub.kubeconfig), "--cluster-kubeconfig", str(plane.kubeconfig)]
        _run(CLIENT, "join", karmada_member.name, *to, *karmada_member.places)

    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda member: enter(*member), members))
    manager.until(lambda: _ready(hub, [item for item, _ in members]), "seeing all members ready")
    for item, _ in members:  # not before: Karmada changes a cluster that joins again and again
        if item.labels:
            hub.kubectl(
                "label",
                CLUSTERS,
                item.name,
                *(f"{key}={value}" for key, value in item.labels.items()),
            )
        if item.taints:
            _run(
                CLIENT,
                "taint",
                "clusters",
                item.name,
                *item.taints,
                "--kubeconfig",
                str(hub.kubeconfig),
            )


def _run(*command: str) -> None:
    """Run a client, again for as long as the aggregated API server counts as gone: a busy machine is late to ask it."""
    give_up = time.monotonic() + 60
    while (done := subprocess.run(command, capture_output=True, text=True, check=False)).returncode:
        said = f"{done.stdout}{done.stderr}"
        if _GONE not in said or time.monotonic() > give_up:
            raise RuntimeError(f"{' '.join(command[:3])} has failed: {said}")
        time.sleep(1)


def _ready(hub: ControlPlane, members: Iterable[KarmadaMember]) -> bool:
    """Whether Karmada finds all members well, and has counted their nodes."""
    found = {
        item["metadata"]["name"]: item.get("status", {}) for item in hub.get(CLUSTERS)["items"]
    }

    def ready(member: KarmadaMember) -> bool:
        status = found[member.name]
        well = any(
            (item["type"], item["status"]) == ("Ready", "True")
            for item in status.get("conditions", ())
        )
        counted = status.get("nodeSummary", {}).get("readyNum") == member.nodes
        return well and counted and "allocatable" in status.get("resourceSummary", {})

    return all(map(ready, members))


def _node(name: str, capacity: Mapping[str, str]) -> Document:
    labels = {
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
    }
    status = {"capacity": dict(capacity), "allocatable": dict(capacity)}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": labels},
        "status": status,
    }


def _answers(hub: ControlPlane) -> bool:
    try:
        hub.kubectl("get", CLUSTERS)
    except subprocess.CalledProcessError:
        return False
    return True


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0
