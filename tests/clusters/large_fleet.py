"""A fleet that is delivered directly, in waves of which one fails and the next update goes on from there.

``python -m tests.clusters.large_fleet`` does so with 12 control planes and 200 objects on each, on the real engine, and
prints what it took; two numbers are those of members and of objects on each. The state is written at the end of each
update alone.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from string import ascii_lowercase
from subprocess import CalledProcessError
from typing import Any

import attrs
import yaml

from tests.control_planes import Planes, own_control_planes
from tests.engine.driver import Engine, provider_or_skip
from tests.engine.stories import config_map, deployment, member, namespace, placement

SPACE, WAVES = "large", 4
_ADMISSION, _READY = "admissionregistration.k8s.io/v1", 60
Tell = Callable[[str], None]


@attrs.define
class Large:
    """What the user has written.

    Attributes:
        planes: the control plane of each member.
        objects: number of objects on each.
        value: the text that every ConfigMap has.
        config: the configuration of the stack.
    """

    planes: Planes
    objects: int
    value: str = "one"
    config: dict[str, Any] = attrs.field(factory=dict)

    @property
    def members(self) -> Mapping[str, Any]:
        """The members, by name."""
        return self.planes

    @property
    def wave(self) -> int:
        """How many members are updated at once."""
        return len(self.planes) // WAVES

    def write(self, folder: Path) -> None:
        """Write members, placement and objects."""
        folder.mkdir(exist_ok=True)
        own = namespace(SPACE)
        placed = placement("large", own)
        placed["spec"]["strategy"] = {"rollingUpdate": {"maxUnavailable": self.wave, "maxSurge": 0}}
        items = {"apiVersion": "v1", "kind": "List", "items": [own, *self._in_it()]}
        (folder / "fleet.yaml").write_text(yaml.safe_dump_all([*map(member, self.planes), placed]))
        (folder / "objects.yaml").write_text(yaml.safe_dump(items))
        self.config["kubeconfigs"] = {
            name: str(plane.kubeconfig) for name, plane in self.planes.items()
        }

    def _in_it(self) -> Iterator[Mapping[str, Any]]:
        running = self.objects // 10
        for number in range(running):
            data = deployment(SPACE, waits=_READY)
            yield {**data, "metadata": {**data["metadata"], "name": f"web-{number}"}}
        for number in range(self.objects - 1 - running):
            yield config_map(SPACE, self.value, f"map-{number}")

    def versions(self, names: str) -> dict[str, str]:
        """The version that the API server gave to each ConfigMap, by member and name: it changes with every write."""
        listed = {name: self.planes[name].get("configmaps", "-n", SPACE)["items"] for name in names}
        return {
            f"{name}/{item['metadata']['name']}": str(item["metadata"]["resourceVersion"])
            for name, items in listed.items()
            for item in items
        }

    def values(self, name: str) -> dict[str, int]:
        """How many ConfigMaps of a member have each text."""
        found: dict[str, int] = defaultdict(int)
        for plane in self.planes[name].get("configmaps", "-n", SPACE)["items"]:
            if plane["metadata"]["name"].startswith("map-"):
                found[plane["data"]["k"]] += 1
        return found


def story(engine: Engine[Large], tell: Tell) -> None:
    """Deliver, change everything while one member of the second wave refuses an object, and go on once it does not."""
    world, names = engine.world, "".join(engine.world.planes)
    done, failing, later = names[: world.wave], names[world.wave], names[2 * world.wave :]
    maps = world.objects - 1 - world.objects // 10
    first = engine.up()
    assert first.ok, first.text
    tell(f"new: {len(names)} members with {world.objects} objects each")
    assert engine.preview().changes == {}
    tell("preview, with nothing to do")

    world.value = "two"
    seen = engine.preview()
    assert seen.ok, seen.text
    assert f"wave {WAVES}: update" in seen.text
    tell(f"preview of a change of {maps} objects on each")
    # From now on a preview would say it, too: the API server tries what is shown.
    with _refusing(world, failing):
        before = world.versions(later)
        failed = engine.up()
        tell("update that one member of the second wave refuses")
        assert not failed.ok
        assert "not this one" in failed.text
        assert world.versions(later) == before
        assert [world.values(name) for name in done] == [{"two": maps}] * len(done)
        assert world.values(failing)["one"] >= 1
        runs = engine.runs()
        assert {runs[name] for name in done} == {1}
        assert {runs[name] for name in (failing, *later)} == {0}

    before = world.versions(done)
    mended = engine.up()
    assert mended.ok, mended.text
    tell("update that goes on")
    assert world.versions(done) == before
    assert [world.values(name) for name in names] == [{"two": maps}] * len(names)
    assert set(engine.runs().values()) == {1}
    assert engine.preview().changes == {}


@contextmanager
def _refusing(world: Large, name: str) -> Iterator[None]:
    """Let the API server of a member refuse the change of one ConfigMap."""
    plane = world.planes[name]
    rule = {
        "apiGroups": [""],
        "apiVersions": ["v1"],
        "operations": ["UPDATE"],
        "resources": ["configmaps"],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [
            {"expression": "object.metadata.name != 'map-0'", "message": "not this one"}
        ],
    }
    head = {"apiVersion": _ADMISSION, "metadata": {"name": SPACE}}
    policy = {**head, "kind": "ValidatingAdmissionPolicy", "spec": spec}
    bound = {"policyName": SPACE, "validationActions": ["Deny"]}
    file = plane.folder / "refusing.yaml"
    file.write_text(
        yaml.safe_dump_all(
            [policy, {**head, "kind": "ValidatingAdmissionPolicyBinding", "spec": bound}]
        )
    )
    plane.kubectl("apply", "-f", str(file))
    _until(plane, "not this one", present=True)
    yield
    plane.kubectl("delete", "-f", str(file))
    _until(plane, "not this one", present=False)


def _until(plane: Any, words: str, *, present: bool) -> None:
    """Wait until the API server goes by what was written: it reads policies some time after they are made."""
    ask = (
        "label",
        "configmap",
        "map-0",
        "-n",
        SPACE,
        "tried=yes",
        "--dry-run=server",
        "--overwrite",
    )
    for _ in range(300):
        try:
            told = plane.kubectl(*ask)
        except CalledProcessError as error:
            told = str(error.stderr)
        if (words in told) == present:
            return
        time.sleep(0.2)
    raise AssertionError(f"the API server does not go by its policy: {told}")


class Usage:
    """What the engine and its plugins take: seconds since the last time, and the most memory at once."""

    def __init__(self) -> None:
        self._most: dict[str, tuple[int, int]] = {}
        self._ended = threading.Event()
        self._last = self._now()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def tell(self, what: str) -> None:
        """Print what it took since the last time."""
        now = self._now()
        wall, cpu = (new - old for new, old in zip(now, self._last, strict=True))
        most = sorted(self._most.items())
        memory = ", ".join(
            f"{number} {name} {kilobytes // 1024} MB" for name, (kilobytes, number) in most
        )
        print(f"  {wall:6.1f} s, computed {cpu:6.1f} s; at most {memory}: {what}", flush=True)
        self._most.clear()
        self._last = self._now()

    def end(self) -> None:
        """Look no more."""
        self._ended.set()
        self._thread.join()

    def _now(self) -> tuple[float, float]:
        times = os.times()
        return time.monotonic(), times.children_user + times.children_system

    def _look(self) -> None:
        while not self._ended.wait(0.3):
            now: dict[str, list[int]] = defaultdict(list)
            for name, kilobytes in _started():
                now[name].append(kilobytes)
            for name, sizes in now.items():
                self._most[name] = max(self._most.get(name, (0, 0)), (sum(sizes), len(sizes)))


def _started() -> Iterator[tuple[str, int]]:
    """Yield name and kilobytes of each process of the engine below this one; a control plane is none."""
    parents, sizes = {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            lines = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        fields = dict(line.split(":", 1) for line in lines if ":" in line)
        parents[int(folder.name)] = int(fields["PPid"])
        sizes[int(folder.name)] = (
            fields["Name"].strip(),
            int(fields.get("VmRSS", "0 kB").split()[0]),
        )
    for number, (name, kilobytes) in sizes.items():
        above = parents[number]
        while above > 1 and above != os.getpid():
            above = parents.get(above, 0)
        if above == os.getpid() and name.startswith(("pulumi", "python")):
            yield name, kilobytes


def main(members: int = 12, objects: int = 200) -> None:
    """Tell the story, and print what each step took."""
    provider_or_skip()
    names = ascii_lowercase[:members]
    with own_control_planes(names) as planes, tempfile.TemporaryDirectory() as folder:
        engine = Engine(Path(folder) / "stack", world=Large(planes, objects), standin=False)
        # An installed package is compiled; where Python is told not to write that down, each run would compile anew.
        engine.environment["PYTHONDONTWRITEBYTECODE"] = ""
        # A backend of files writes the whole state twice for each object: that alone would be measured.
        engine.environment["PULUMI_SKIP_CHECKPOINTS"] = "true"
        usage = Usage()
        try:
            story(engine, usage.tell)
        finally:
            usage.end()


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
