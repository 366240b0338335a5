"""``fleet drift``: what is said of members that were changed, of those that do not answer, and what is adopted."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from functools import cached_property
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import attrs
import pytest
import yaml

from tests.cli.fleets import run
from tests.delivery.driver import InProcess
from tests.delivery.world import World

CANARY = "SWORDFISH"
SETTINGS: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "c", "namespace": "shop"},
    "data": {"k": "one"},
}
SEALED: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "Secret",
    "metadata": {"name": "s", "namespace": "shop"},
    "data": {"k": "aHVudGVyMg=="},
}
KINDS = {"namespaces": "Namespace", "configmaps": "ConfigMap", "secrets": "Secret", "deployments": "Deployment"}


def merged(old: Any, new: Any) -> Any:
    if isinstance(old, dict) and isinstance(new, dict):
        return {**old, **{key: merged(old.get(key), item) for key, item in new.items()}}
    return new


@attrs.define
class Member:
    """A stand-in for an API server that applies maps on trial."""

    server: ThreadingHTTPServer
    objects: dict[str, Any] = attrs.field(factory=dict)
    methods: set[str] = attrs.field(factory=set)

    def kubeconfig(self) -> str:
        parts = {
            "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{self.server.server_port}"}}],
            "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
            "users": [{"name": "u", "user": {"token": CANARY}}],
        }
        return yaml.safe_dump({"apiVersion": "v1", "kind": "Config", "current-context": "x", **parts})

    def take(self, data: dict[str, Any]) -> None:
        """Have what was delivered."""
        plural = next(name for name, kind in KINDS.items() if kind == data["kind"])
        root = "/apis/apps/v1" if "/" in data["apiVersion"] else "/api/v1"
        space = data["metadata"].get("namespace")
        space = f"/namespaces/{space}" if space else ""
        self.objects[f"{root}{space}/{plural}/{data['metadata']['name']}"] = json.loads(json.dumps(data))

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        self.methods.add(method if method == "GET" else path.partition("?")[2].partition("&")[0])
        path = path.partition("?")[0]
        served = [{"name": name, "kind": kind, "namespaced": kind != "Namespace"} for name, kind in KINDS.items()]
        known = {
            "/api/v1": {"resources": served},
            "/apis": {"groups": [{"name": "apps", "versions": [{"version": "v1"}]}]},
            "/apis/apps/v1": {"resources": served},
        }
        if path in known:
            return 200, known[path]
        if method == "PATCH":
            return 200, merged(self.objects.get(path), body)
        return (200, self.objects[path]) if path in self.objects else (404, {"kind": "Status"})


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch) -> Iterator[dict[str, Member]]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    found: dict[str, Member] = {}
    for name in "ab":

        class Handler(BaseHTTPRequestHandler):
            of = name

            def do_GET(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length) or "null")
                status, said = found[self.of].answer(self.command, self.path, body)
                data = json.dumps(said).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_PATCH = do_GET  # noqa: N815

            def log_message(self, *_: Any) -> None:
                """Nothing."""

        found[name] = Member(ThreadingHTTPServer(("127.0.0.1", 0), Handler))
        threading.Thread(target=found[name].server.serve_forever, args=[0.01], daemon=True).start()
    yield found
    for one in found.values():
        one.server.shutdown()
        one.server.server_close()


@attrs.define(slots=False)
class Fleet:
    """A fleet that is delivered to stand-ins."""

    members: dict[str, Member]
    folder: Path
    state: Path

    def drift(self, *args: object, width: int | None = None) -> Any:
        result = run("drift", self.folder, "--state", self.state, "--any-state", *args, width=width)
        assert CANARY not in result.output
        assert "hunter2" not in result.output
        assert "aHVudGVyMg" not in result.output
        return result

    def resources(self) -> list[dict[str, Any]]:
        """Those of the state, to be changed."""
        found: list[dict[str, Any]] = self._export["deployment"]["resources"]
        return found

    @cached_property
    def _export(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.state.read_text())
        return found

    def keep(self) -> None:
        """Write the state as it was changed."""
        self.state.write_text(json.dumps(self._export))

    def at(self, member: str, path: str) -> dict[str, Any]:
        found: dict[str, Any] = self.members[member].objects[path]
        return found


CONFIG = "/api/v1/namespaces/shop/configmaps/c"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
SECRET = "/api/v1/namespaces/shop/secrets/s"


@pytest.fixture
def fleet(members: dict[str, Member], tmp_path: Path) -> Fleet:
    labels = {"a": {"zone": "1", "env": "x"}, "b": {"zone": "2", "env": "x"}}
    world = World(members=labels, extra=[SETTINGS, SEALED])
    world.config["kubeconfigs"] = {name: one.kubeconfig() for name, one in members.items()}
    world.write(tmp_path / "fleet")
    driver = InProcess(world)
    assert (done := driver.up()).ok, done.text
    resources = []
    for one in driver.state.resources.values():
        inputs = dict(one.inputs)
        resources.append(
            {
                "urn": one.urn,
                "type": one.type,
                "custom": True,
                "inputs": inputs,
                "outputs": dict(one.outputs),
                "provider": one.provider,
                "parent": one.parent,
            }
        )
        if one.type.startswith("kubernetes:"):
            members[one.name.partition("@")[2].partition("/")[0]].take(inputs)
    state = tmp_path / "state.json"
    state.write_text(json.dumps({"version": 3, "deployment": {"resources": resources}}))
    return Fleet(members, tmp_path / "fleet", state)


def test_nothing_has_drifted(fleet: Fleet) -> None:
    result = fleet.drift("--detailed-exitcode", "--strict")
    assert result.exit_code == 0, result.output
    assert "no drift, of 8 objects compared on 2 members" in result.stdout
    assert all(one.methods == {"GET", "dryRun=All"} for one in fleet.members.values())


def test_fields_and_missing_objects_are_told(fleet: Fleet) -> None:
    fleet.at("b", CONFIG)["data"]["k"] = "by\x1b[31m hand"
    fleet.at("b", SECRET)["data"]["k"] = "aHVudGVyMgo="
    del fleet.members["a"].objects[WEB]
    assert fleet.drift().exit_code == 0
    assert fleet.drift("--strict").exit_code == 3
    result = fleet.drift("--detailed-exitcode", "-o", "json")
    assert result.exit_code == 2
    a, b = json.loads(result.stdout)["members"]
    assert [(one["kind"], one["missing"]) for one in a["objects"]] == [("Deployment", True)]
    told = {one["kind"]: one["differences"] for one in b["objects"]}
    assert told["ConfigMap"] == [{"path": "/data/k", "delivered": "one", "there": "by\x1b[31m hand"}]
    assert [each["path"] for each in told["Secret"]] == ["/data/k"]
    assert "redacted" in told["Secret"][0]["there"]
    assert yaml.safe_load(fleet.drift("-o", "yaml").stdout)["totals"]["missing"] == 1
    for form in ("text", "markdown"):
        for width in (None, 40):
            text = fleet.drift("-o", form, width=width).stdout
            assert "\x1b" not in text
            assert "/data/k" in text
    assert "(absent)" not in text
    assert json.loads(fleet.drift("--member", "a", "-o", "json").stdout)["totals"]["changed"] == 0
    unknown = fleet.drift("--only", "shpo")
    assert unknown.exit_code == 1
    assert "did you mean shop?" in unknown.stderr


def test_a_member_that_does_not_answer_is_an_error(fleet: Fleet, tmp_path: Path) -> None:
    fleet.members["a"].server.server_close()
    fleet.members["a"].server.shutdown()
    result = fleet.drift("--detailed-exitcode", "--timeout", "1")
    assert result.exit_code == 1
    assert "4 of 8 objects could not be compared" in result.stderr
    broken = tmp_path / "broken"
    broken.write_text(f"token: {CANARY}")
    result = fleet.drift("--member", "b", "--kubeconfig", f"b={broken}")
    assert result.exit_code == 1
    assert f"{broken}: member b: is not a kubeconfig: it has no clusters and no contexts" in result.stderr
    assert fleet.drift("--kubeconfig", "b").exit_code == 1
    assert fleet.drift("--kubeconfig", f"b={tmp_path / 'none'}").exit_code == 1


def test_a_provider_of_a_members_own_may_have_a_path_and_choose_a_context(fleet: Fleet, tmp_path: Path) -> None:
    """Its objects name it, whatever it is called; a status asks with it as well."""
    config = yaml.safe_load(fleet.members["b"].kubeconfig())
    config["contexts"].append({"name": "elsewhere", "context": {"cluster": "gone", "user": "u"}})
    config["clusters"].append({"name": "gone", "cluster": {"server": "http://127.0.0.1:9"}})
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({**config, "current-context": "elsewhere"}))
    for one in fleet.resources():
        if one["urn"].endswith("kubernetes::dev/b"):
            one["urn"] = one["urn"].replace("fleet:index:Fleet$", "").replace("dev/b", "tools")
            one["inputs"] |= {"kubeconfig": str(file), "context": "x"}
        if "@b/" in one["urn"]:
            one["provider"] = "urn:pulumi:stack::project::pulumi:providers:kubernetes::tools::id"
    fleet.keep()
    assert "no drift, of 8 objects compared on 2 members" in fleet.drift().stdout
    fleet.members["b"].methods.clear()
    status = run("status", fleet.folder, "--state", fleet.state, "--any-state", "--live", "--by", "member")
    assert "not reached" not in status.stdout
    assert fleet.members["b"].methods == {"GET", "dryRun=All"}


def test_fleets_may_have_members_of_one_name(fleet: Fleet) -> None:
    """A second fleet of the stack: its member ``a`` is another cluster, and its ``b`` does not answer."""
    own = json.dumps(fleet.resources())
    other = own.replace("dev/", "other/").replace("::dev", "::other").replace('"dev"', '"other"')
    mine, theirs = (fleet.members[name].kubeconfig() for name in "ab")
    for one in json.loads(other):
        if one["urn"].endswith("kubernetes::other/a"):
            one["inputs"]["kubeconfig"] = theirs
        if one["urn"].endswith("kubernetes::other/b"):
            one["inputs"]["kubeconfig"] = theirs.replace(str(fleet.members["b"].server.server_port), "9")
        fleet.resources().append(one)
    fleet.keep()
    fleet.at("b", CONFIG)["data"]["k"] = "by hand"
    document = json.loads(fleet.drift("-o", "json").stdout)
    told = {
        (one["fleet"], one["name"]): (bool(one["unreached"]), [each["kind"] for each in one["objects"]])
        for one in document["members"]
    }
    assert told == {
        ("dev", "a"): (False, []),
        ("dev", "b"): (False, ["ConfigMap"]),
        ("other", "a"): (False, ["ConfigMap"]),
        ("other", "b"): (True, []),
    }
    assert document["totals"]["unreached"] == 1
    lines = fleet.drift().stdout.splitlines()
    assert [line for line in lines if "/" in line and " " not in line] == ["dev/b", "other/a", "other/b"]
    file = fleet.folder.parent / "kubeconfig"
    file.write_text(mine)
    given = fleet.drift("--kubeconfig", f"other/b={file}", "-o", "json")
    assert (given.exit_code, json.loads(given.stdout)["totals"]["unreached"]) == (0, 0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--kubeconfig", "b"), "write MEMBER=PATH"),
        (("--kubeconfig", "b=none"), "none: member b: the kubeconfig cannot be read"),
        (("--kubeconfig", "b=one", "--kubeconfig", "b=two"), "b is given two kubeconfigs"),
        (("--kubeconfig", "z=one"), 'nothing was delivered by or to a member "z"'),
    ],
)
@pytest.mark.parametrize("command", ["drift", "status"])
def test_wrong_kubeconfigs(fleet: Fleet, command: str, options: tuple[str, ...], words: str) -> None:
    live = ("--live",) if command == "status" else ()
    result = run(command, fleet.folder, "--state", fleet.state, "--any-state", *live, *options)
    assert (result.exit_code, words in result.stderr) == (1, True), result.stderr
    assert result.stdout == ""


def test_what_all_have_is_adopted_in_place(fleet: Fleet) -> None:
    for name in "ab":
        fleet.at(name, CONFIG)["data"] |= {"k": "adopted", "more": "not ours"}
    file = fleet.folder / "fleet.yaml"
    before = file.read_text()
    shown = fleet.drift("--adopt")
    assert shown.exit_code == 0, shown.output
    assert "+  k: adopted" in shown.stdout
    assert file.read_text() == before
    assert fleet.drift("--adopt", "--write").exit_code == 0
    assert file.read_text() == before.replace("k: one", "k: adopted")


def test_what_one_has_becomes_an_override(fleet: Fleet) -> None:
    fleet.at("b", CONFIG)["data"]["k"] = "here"
    fleet.at("b", SECRET)["data"]["k"] = "aHVudGVyMgo="
    result = fleet.drift("--adopt", "--write")
    assert result.exit_code == 0, result.output
    assert "Secret shop/s" in result.stdout
    override = yaml.safe_load((fleet.folder / "adopted-configmap-c.yaml").read_text())
    (rule,) = override["spec"]["policy"]["overrideRules"]
    assert rule["clusterSelector"]["clusterSelectorTerms"] == [{"labelSelector": {"matchLabels": {"zone": "2"}}}]
    assert rule["jsonPatchOverrides"] == [{"op": "add", "path": "/data/k", "value": "here"}]
    assert fleet.drift("--write").exit_code == 1


def test_without_a_state_there_is_nothing_to_hold_against(fleet: Fleet) -> None:
    result = run("drift", fleet.folder)
    assert result.exit_code == 1
    assert "there is no state" in result.stderr
