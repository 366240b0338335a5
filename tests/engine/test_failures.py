"""A member fails in the second of three waves, in many ways: what stands then, and how the next update goes on."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import attrs
import pytest
import yaml

from tests.control_planes import Planes
from tests.engine.driver import Engine
from tests.engine.test_clusters import clusters, image, planes
from tools.clusters.cluster import Cluster, ControlPlane

__all__ = ["clusters", "planes"]
pytestmark = [
    pytest.mark.engine,
    pytest.mark.clusters,
    pytest.mark.parametrize("planes", ["abc"], indirect=True),
]
NEW = "web:2"
BINDING = (
    "create",
    "clusterrolebinding",
    "fleet",
    "--clusterrole=cluster-admin",
    "--serviceaccount=default:fleet",
)
# Refuses the new image, and nothing else.
DENYING = [
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": "images"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["apps"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["deployments"],
                    }
                ]
            },
            "validations": [
                {
                    "expression": f"object.spec.template.spec.containers.all(c, c.image != '{NEW}')",
                    "message": f"{NEW} is not wanted here",
                }
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": "images"},
        "spec": {"policyName": "images", "validationActions": ["Deny"]},
    },
]


@attrs.frozen
class Way:
    """A way in which a member fails.

    Attributes:
        fail: lets it fail.
        mend: lets it work again.
        said: what the failed update says of it.
        prepare: is done before anything is delivered, and returns the kubeconfig to use.
    """

    fail: Callable[[ControlPlane], object]
    mend: Callable[[ControlPlane], object]
    said: str
    prepare: Callable[[ControlPlane], str] = lambda plane: plane.kubeconfig.read_text()


def back(plane: ControlPlane) -> None:
    plane.start()
    plane.wait()


def deny(plane: ControlPlane) -> None:
    file = plane.folder / "denying.yaml"
    file.write_text(yaml.safe_dump_all(DENYING))
    plane.kubectl("apply", "-f", str(file))
    # A policy takes effect some time after it was made.
    while not denied(plane):
        pass


def denied(plane: ControlPlane) -> bool:
    try:
        plane.kubectl("create", "deployment", "tried", f"--image={NEW}", "--dry-run=server")
    except subprocess.CalledProcessError as error:
        return "not wanted here" in error.stderr
    return False


def allow(plane: ControlPlane) -> None:
    plane.kubectl("delete", "-f", str(plane.folder / "denying.yaml"))
    while denied(plane):
        pass


def as_an_account(plane: ControlPlane) -> str:
    """A kubeconfig of a service account, which may do everything for the time being."""
    plane.kubectl("create", "serviceaccount", "fleet", "-n", "default")
    plane.kubectl(*BINDING)
    config = yaml.safe_load(plane.kubeconfig.read_text())
    token = plane.kubectl("create", "token", "fleet", "-n", "default", "--duration=24h")
    config["users"][0]["user"] = {"token": token}
    return str(yaml.safe_dump(config))


WAYS = {
    "gone": Way(ControlPlane.kill, back, "unreachable"),
    "hanging": Way(ControlPlane.pause, ControlPlane.resume, "b"),
    "forbidding": Way(
        lambda plane: plane.kubectl("delete", "clusterrolebinding", "fleet"),
        lambda plane: plane.kubectl(*BINDING),
        "forbidden",
        as_an_account,
    ),
    "refusing the object": Way(deny, allow, "is not wanted here"),
}


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_it_fails_in_the_second_wave(clusters: Engine, planes: Planes, way: Way) -> None:
    clusters.world.config["kubeconfigs"]["b"] = way.prepare(planes["b"])
    assert (first := clusters.up()).ok, first.text
    uids = uids_of(planes)
    clusters.world.image = NEW
    way.fail(planes["b"])
    try:
        stopped = clusters.up()
    finally:
        way.mend(planes["b"])
    assert not stopped.ok
    assert way.said in stopped.text
    assert "shop@b" in stopped.text or "dev/b" in stopped.text
    assert images(planes) == {"a": NEW, "b": "web:1", "c": "web:1"}
    shown = clusters.preview()
    assert {name for name in shown.changes if name.startswith("Deployment")} == {
        f"Deployment shop@{name}/shop/web" for name in "bc"
    }
    with watched(planes) as seen:
        assert (resumed := clusters.up()).ok, resumed.text
    assert order(seen) == ["b", "c"]
    assert images(planes) == dict.fromkeys("abc", NEW)
    assert uids_of(planes) == uids
    assert clusters.preview().changes == {}


def test_each_wave_begins_when_the_one_before_is_available(
    clusters: Engine, planes: Planes
) -> None:
    """Watched on the members: what the engine says of itself is not asked."""
    assert clusters.up().ok
    clusters.world.image = NEW
    with watched(planes) as seen:
        assert clusters.up().ok
    assert order(seen) == ["a", "b", "c"]
    for earlier, later in ("ab", "bc"):
        finished = seen.index((earlier, NEW, True))
        assert seen.index((later, NEW, False)) > finished, seen


def test_it_comes_back_with_another_address(clusters: Engine, planes: Planes) -> None:
    assert clusters.up().ok
    uids = uids_of(planes)
    planes["b"].kill()
    (planes["b"].folder / "port").unlink()
    back(planes["b"])
    config = clusters.world.config["kubeconfigs"]
    assert config["b"] != planes["b"].kubeconfig.read_text()
    config["b"] = planes["b"].kubeconfig.read_text()
    clusters.world.image = NEW
    moved = clusters.up()
    assert moved.ok, moved.text
    assert moved.changes["kubernetes b"] == "update"
    assert set(moved.changes.values()) == {"update"}
    assert images(planes) == dict.fromkeys("abc", NEW)
    assert uids_of(planes) == uids


def test_two_programs_at_once(clusters: Engine, planes: Planes) -> None:
    """The second is refused by the lock of the backend while the first waits for a member that hangs."""
    assert clusters.up().ok
    clusters.world.image = NEW
    planes["b"].pause()
    with clusters.start("up", "--yes", "--skip-preview") as first:
        try:
            while image(planes["a"]) != NEW:
                pass
            code, said = clusters.command("up", "--yes", "--skip-preview")
        finally:
            planes["b"].resume()
        text, _ = first.communicate(timeout=300)
    assert code != 0
    assert "the stack is currently locked" in said
    assert first.returncode == 0, text
    assert images(planes) == dict.fromkeys("abc", NEW)
    assert clusters.preview().changes == {}


Seen = list[tuple[str, str, bool]]
"""What was seen one after the other: a member, the image of its Deployment, and whether that is available."""


@contextmanager
def watched(planes: Planes) -> Iterator[Seen]:
    """Watch the Deployments of all members at once."""
    seen: Seen = []
    with_watches = [watch(name, plane, seen) for name, plane in planes.items()]
    try:
        yield seen
    finally:
        for process, thread in with_watches:
            process.terminate()
            process.wait()
            thread.join()
            if process.stdout:
                process.stdout.close()


COLUMNS = {
    "IMAGE": ".spec.template.spec.containers[0].image",
    "WANTED": ".metadata.generation",
    "SEEN": ".status.observedGeneration",
    "ALL": ".status.replicas",
    "UPDATED": ".status.updatedReplicas",
    "AVAILABLE": ".status.availableReplicas",
}


def watch(
    name: str, cluster: Cluster, seen: Seen
) -> tuple[subprocess.Popen[str], threading.Thread]:
    columns = ",".join(f"{title}:{path}" for title, path in COLUMNS.items())
    command = [
        str(cluster.client),
        "--kubeconfig",
        str(cluster.kubeconfig),
        "get",
        "deployment",
        "web",
        "-n",
        "shop",
    ]
    options = ["--watch", "--no-headers", f"--output=custom-columns={columns}"]
    process = subprocess.Popen([*command, *options], stdout=subprocess.PIPE, text=True)

    def read() -> None:
        assert process.stdout
        for line in process.stdout:
            found, wanted, current, *replicas = line.split()
            ready = current == wanted and len(set(replicas)) == 1 and replicas[0] != "<none>"
            if (name, found, ready) not in seen:
                seen.append((name, found, ready))

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    return process, thread


def order(seen: Seen) -> list[str]:
    """The members in the order in which the new image reached them; those that had it before are left out."""
    old = {name for name, found, _ in seen if found != NEW}
    return [name for name, found, ready in seen if found == NEW and not ready and name in old]


def images(planes: Planes) -> dict[str, str]:
    return {name: image(plane) for name, plane in planes.items()}


def uids_of(planes: Planes) -> dict[tuple[str, str], str]:
    return {
        (name, kind): plane.get(kind, found, "-n", "shop")["metadata"]["uid"]
        for name, plane in planes.items()
        for kind, found in (("deployment", "web"), ("configmap", "c"), ("secret", "s"))
    }
