"""A KubeFleet hub with real agents: the hub agent and one member agent for each member, on control planes of our own.

The programs ``hubagent`` and ``memberagent`` come from PATH, and the definitions of the hub from beside them or from the
shared folder. The webhooks are on. The hub agent has their port built in, so a machine has one such hub at a time; a
second one waits.
"""

from __future__ import annotations

import fcntl
import socket
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

import attrs
import yaml

from tests.clusters.documents import Document, judging
from tests.control_planes import own_control_planes
from tests.hubs.kubefleet_release import hub_definitions, release_of
from tests.hubs.objects import Objects
from tests.hubs.processes import Program, free_port, hubs_or_skip
from tools.clusters.cluster import ControlPlane

AGENTS = ("hubagent", "memberagent")
WEBHOOKS = 9443
"""The port that the hub agent listens on for the API server; no option changes it."""
SYSTEM = "fleet-system"
_HUB = "hub"
_SERVICE = "fleetwebhook"
_PLACEMENTS = "placement.kubernetes-fleet.io/v1beta1"
_MEMBERS = "/apis/cluster.kubernetes-fleet.io/v1/memberclusters"
_NO_ROOM = "too many open files"
_PATIENCE = 300.0
"""Seconds to wait for room."""
_ON_MEMBERS = "appliedworks"
"""The only kind whose definition a member needs."""


@attrs.frozen
class MemberSpec:
    """A member as it joins.

    Attributes:
        labels: of its MemberCluster.
        taints: of its MemberCluster, as in its spec.
        nodes: number of simulated nodes.
        cpu: allocatable on each node, a Kubernetes quantity.
        memory: allocatable on each node, a Kubernetes quantity.
        region: of its nodes, and where its agent says that it is.
        sku: size of the virtual machine that each node says it is.
        arguments: more options of its agent.
    """

    labels: Mapping[str, str] = attrs.field(factory=dict)
    taints: Sequence[Mapping[str, str]] = ()
    nodes: int = 1
    cpu: str = "4"
    memory: str = "16Gi"
    region: str = "westeurope"
    sku: str = "Standard_D4s_v5"
    arguments: Sequence[str] = ()

    def node(self, number: int) -> Document:
        """The simulated node of that number, with what the property provider reads."""
        name, room = f"node-{number}", {"cpu": self.cpu, "memory": self.memory, "pods": "110"}
        labels = {
            "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": name,
            "kubernetes.io/os": "linux",
            "node.kubernetes.io/instance-type": self.sku,
            "topology.kubernetes.io/region": self.region,
            "topology.kubernetes.io/zone": f"{self.region}-1",
        }
        status = {"capacity": room, "allocatable": room}
        return _made("v1", "Node", name, labels=labels) | {"status": status}

    def cluster(self, name: str) -> Document:
        """Its MemberCluster, whose agent reports every five seconds."""
        identity = {"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}
        spec = {
            "identity": identity,
            "heartbeatPeriodSeconds": 5,
            "taints": [dict(taint) for taint in self.taints],
        }
        made = _made(
            "cluster.kubernetes-fleet.io/v1", "MemberCluster", name, labels=dict(self.labels)
        )
        return made | {"spec": spec}


@attrs.define
class KubeFleetHub:
    """A hub that runs, and its members.

    Attributes:
        hub: the control plane of the hub.
        members: the control planes of the members, by name.
        objects: those of the hub.
        agent: the hub agent.
        release: the name of its release of KubeFleet.
        agents: the member agents, by name of the member.
    """

    hub: ControlPlane
    members: Mapping[str, ControlPlane]
    objects: Objects
    agent: Program
    release: str
    agents: dict[str, Program] = attrs.field(factory=dict)

    def apply(self, wanted: Sequence[Document]) -> None:
        """Make objects of the hub, or change those that are there, in this order.

        Raises:
            AssertionError: the hub refuses one, or does not know a field of it, and says why.
        """
        self.objects.apply(wanted)

    def delete(self, *command: str) -> None:
        """Delete objects of the hub as ``kubectl delete`` names them, and wait; what is not there is not missed."""
        self.hub.kubectl("delete", *command, "--ignore-not-found")

    def settle(self, seconds: float = 7.0, patience: float = 180.0) -> None:
        """Return when no object of the placement API has changed for a while.

        Args:
            seconds: that nothing may change in. A member agent looks again after five seconds whether a workload has
                become available. A staged run goes on every 15 seconds: give 17 where one is in progress.
            patience: seconds to wait for that.

        Raises:
            RuntimeError: it does not come to rest; these objects were the last to change.
        """
        now, since = self._placements(), time.monotonic()
        give_up = since + patience
        while time.monotonic() - since < seconds:
            time.sleep(0.5)
            before, now = now, self._placements()
            if now != before:
                since = time.monotonic()
                if since > give_up:
                    moving = sorted(
                        name
                        for name in before.keys() | now.keys()
                        if before.get(name) != now.get(name)
                    )
                    raise RuntimeError(
                        f"the hub does not come to rest after {patience:.0f} s: {', '.join(moving)}"
                    )

    def stop_member(self, name: str) -> None:
        """End the agent of a member; its API server goes on."""
        self.agents[name].stop()

    def start_member(self, name: str) -> None:
        """Start the agent of a member again."""
        self.agents[name].start()

    def joined(self, name: str, nodes: int) -> bool:
        """Whether the agent of a member has joined, and has reported so many nodes."""
        status = (self.objects.get(f"{_MEMBERS}/{name}") or {}).get("status", {})
        stands = {item["type"]: item["status"] for item in status.get("conditions", ())}
        counted = (
            status.get("properties", {}).get("kubernetes-fleet.io/node-count", {}).get("value")
        )
        known = "cpu" in status.get("resourceUsage", {}).get("available", {})
        return stands.get("Joined") == "True" and counted == str(nodes) and known

    def _placements(self) -> dict[str, str]:
        return self.objects.of_group(_PLACEMENTS, without=[_ON_MEMBERS])


@contextmanager
def kubefleet_hub(
    members: Mapping[str, MemberSpec],
    *,
    collection: str = "0s",
    interval: str = "0s",
    arguments: Sequence[str] = (),
    webhooks: int = WEBHOOKS,
) -> Iterator[KubeFleetHub]:
    """A hub to which all members have joined with their properties; it ends with the block.

    Args:
        members: what joins, by name.
        collection: how long the hub gathers changes of resources before it looks at them; ``15s`` by its own default.
        interval: least time between two snapshots of resources; ``30s`` by its own default.
        arguments: more options of the hub agent.
        webhooks: the port that the hub agent on PATH has built in.

    Skips the test where the agents, a control plane or the definitions are missing; ``FLEET_REQUIRE_HUBS=1`` makes a
    missing agent or control plane a failure.

    Raises:
        RuntimeError: an agent does not get ready; the end of its log is in the text.
    """
    hubs_or_skip(*AGENTS)
    definitions = hub_definitions()
    assert _HUB not in members, "the hub's own control plane is called so"
    intervals = {
        "resource-changes-collection-duration": collection,
        "resource-snapshot-creation-minimum-interval": interval,
    }
    options = [*(f"--{name}={value}" for name, value in intervals.items()), *arguments]
    with _alone(webhooks), own_control_planes([_HUB, *members]) as planes, ExitStack() as started:
        hub = planes[_HUB]
        objects = Objects(started.enter_context(judging(hub)))
        objects.apply([*definitions, _made("v1", "Namespace", SYSTEM), _service(webhooks)])
        agent = _hub_agent(hub, objects, options)
        started.callback(agent.stop)
        served = {name: planes[name] for name in members}
        fleet = KubeFleetHub(hub, served, objects, agent, release_of(definitions))
        needed = [
            definition
            for definition in definitions
            if definition["metadata"]["name"].startswith(_ON_MEMBERS)
        ]
        fleet.apply([_made("v1", "ServiceAccount", name, namespace=SYSTEM) for name in members])
        fleet.apply([member.cluster(name) for name, member in members.items()])
        for name, member in members.items():
            _prepare(planes[name], member, needed)
            fleet.agents[name] = _member_agent(fleet, name, member)
            started.callback(fleet.agents[name].stop)
        for name, member in members.items():
            _wait(fleet, name, member.nodes)
        yield fleet


def _made(api_version: str, kind: str, name: str, **metadata: object) -> Document:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": name, **metadata}}


def _service(port: int) -> Document:
    """Another name for this machine, by which the API server finds the webhooks."""
    spec = {"type": "ExternalName", "externalName": "127.0.0.1", "ports": [{"port": port}]}
    return _made("v1", "Service", _SERVICE, namespace=SYSTEM) | {"spec": spec}


def _hub_agent(hub: ControlPlane, objects: Objects, options: Sequence[str]) -> Program:
    """Start it, and return when the API server asks its webhooks."""
    port = free_port()
    command = [
        "hubagent",
        "--enable-webhook=true",
        "--webhook-client-connection-type=service",
        f"--webhook-service-name={_SERVICE}",
        "--enable-guard-rail=false",
        "--enable-cluster-inventory-apis=false",
        "--metrics-bind-address=0",
        f"--health-probe-bind-address=127.0.0.1:{port}",
        *options,
    ]
    environment = {"KUBECONFIG": str(hub.kubeconfig), "POD_NAMESPACE": SYSTEM}
    agent = Program(command, hub.folder / "agent.log", environment)
    try:
        start_hub_agent(agent, port)
        agent.until(lambda: _defaults(objects), "asked by the API server")
    except BaseException:
        agent.stop()
        raise
    return agent


def start_hub_agent(agent: Program, port: int) -> None:
    """Start the hub agent, and return when it is ready.

    As in a pod it is started again where other processes leave it no room to watch files.

    Raises:
        RuntimeError: it ends for another reason, or there is no room for five minutes.
    """
    give_up = time.monotonic() + _PATIENCE
    while True:
        agent.start()
        try:
            return agent.until(lambda: _healthy(port), "ready")
        except RuntimeError:
            if _NO_ROOM not in agent.tail() or time.monotonic() > give_up:
                raise
        time.sleep(2)


def _healthy(port: int) -> bool:
    with (
        suppress(URLError, OSError),
        urlopen(f"http://127.0.0.1:{port}/readyz", timeout=5) as answer,
    ):
        return bool(answer.status == 200)
    return False


def _defaults(objects: Objects) -> bool:
    """Whether the webhooks complete what is made: the API server goes on where it cannot ask them."""
    selector = {"group": "", "version": "v1", "kind": "Namespace", "name": SYSTEM}
    tried = _made(_PLACEMENTS, "ClusterResourcePlacement", "tried") | {
        "spec": {"resourceSelectors": [selector]}
    }
    made = objects.create(f"/apis/{_PLACEMENTS}/clusterresourceplacements", tried, dryRun="All")
    return "policy" in made["spec"]


def _prepare(plane: ControlPlane, member: MemberSpec, definitions: Sequence[Document]) -> None:
    """Give a member's control plane the definition its agent needs, and the nodes of the member."""
    with judging(plane) as judge:
        objects = Objects(judge)
        objects.apply(definitions)
        objects.delete("/api/v1/nodes")  # its own have no place, and next to endless room
        for number in range(member.nodes):
            objects.create("/api/v1/nodes", member.node(number))


def _member_agent(fleet: KubeFleetHub, name: str, member: MemberSpec) -> Program:
    """Start it once the hub agent has let it into its namespace of the hub."""
    grants = f"/apis/rbac.authorization.k8s.io/v1/namespaces/fleet-member-{name}/rolebindings"
    fleet.agent.until(
        lambda: bool((fleet.objects.get(grants) or {}).get("items")), f"letting {name} in"
    )
    accounts = f"/api/v1/namespaces/{SYSTEM}/serviceaccounts"
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenRequest",
        "spec": {"expirationSeconds": 86400},
    }
    plane = fleet.members[name]
    token = plane.folder / "token"
    token.write_text(fleet.objects.create(f"{accounts}/{name}/token", asked)["status"]["token"])
    server = yaml.safe_load(fleet.hub.kubeconfig.read_text())["clusters"][0]["cluster"]
    command = [
        "memberagent",
        "--property-provider=azure",
        f"--region={member.region}",
        "--metrics-bind-address=0",
        "--hub-metrics-bind-address=0",
        "--health-probe-bind-address=0",
        "--hub-health-probe-bind-address=0",
        *member.arguments,
    ]
    environment = {
        "KUBECONFIG": str(plane.kubeconfig),
        "HUB_SERVER_URL": server["server"],
        "HUB_CERTIFICATE_AUTHORITY": server["certificate-authority-data"],
        "CONFIG_PATH": str(token),
        "MEMBER_CLUSTER_NAME": name,
    }
    agent = Program(command, plane.folder / "agent.log", environment)
    agent.start()
    return agent


def _wait(fleet: KubeFleetHub, name: str, nodes: int) -> None:
    fleet.agents[name].until(
        lambda: fleet.joined(name, nodes), f"joined with its properties: {name}"
    )


@contextmanager
def _alone(port: int) -> Iterator[None]:
    """Hold the port of the webhooks against other tests of this machine.

    Raises:
        RuntimeError: something else listens on it.
    """
    with (Path(tempfile.gettempdir()) / f"fleet-webhooks-{port}").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with socket.socket() as tried:
            if tried.connect_ex(("127.0.0.1", port)) == 0:
                raise RuntimeError(
                    f"port {port}, which the hub agent has built in, is taken: end what listens on it"
                )
        yield
