"""``fleet drift``: what is said of members that were changed, of those that do not answer, and what is adopted."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from fleet_components.systems.kubefleet.model.member_cluster import MEMBER_NAME_LABEL
from tests.cli.delivered import Delivered, Fleet, delivered
from tests.cli.fleets import run
from tests.delivery.karmada import world as karmada
from tests.delivery.world import IDENTITY, MEMBER, KubeFleetWorld
from tests.live.api_server import CANARY, closes, refuses

pytestmark = pytest.mark.long

__all__ = ["delivered"]

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
SHOP: dict[str, Any] = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
CONFIG = "/api/v1/namespaces/shop/configmaps/c"
WEB = "/apis/apps/v1/namespaces/shop/deployments/web"
SECRET = "/api/v1/namespaces/shop/secrets/s"


def world(**changes: Any) -> KubeFleetWorld:
    labels = {"a": {"zone": "1", "env": "x"}, "b": {"zone": "2", "env": "x"}}
    return KubeFleetWorld(members=labels, extra=[SETTINGS, SEALED], **changes)


@pytest.fixture
def fleet(delivered: Delivered) -> Fleet:
    return delivered(world())


def test_nothing_has_drifted(fleet: Fleet) -> None:
    result = fleet.run("drift", "--detailed-exitcode", "--strict")
    assert result.exit_code == 0, result.output
    assert "no drift, of 8 objects compared on 2 members" in result.stdout
    assert [fleet.methods(name) for name in "ab"] == [{"GET"}, {"GET"}]


def test_fields_and_missing_objects_are_told(fleet: Fleet) -> None:
    fleet.at("b", CONFIG)["data"]["k"] = "by\x1b[31m hand"
    fleet.at("b", SECRET)["data"]["k"] = "aHVudGVyMgo="
    del fleet.members["a"].objects[WEB]
    assert fleet.run("drift").exit_code == 0
    assert fleet.run("drift", "--strict").exit_code == 3
    result = fleet.run("drift", "--detailed-exitcode", "-o", "json")
    assert result.exit_code == 2
    a, b = json.loads(result.stdout)["members"]
    assert [(item["kind"], item["missing"]) for item in a["objects"]] == [("Deployment", True)]
    told = {item["kind"]: item["differences"] for item in b["objects"]}
    assert told["ConfigMap"] == [
        {"path": "/data/k", "delivered": "one", "there": "by\x1b[31m hand"}
    ]
    assert [each["path"] for each in told["Secret"]] == ["/data/k"]
    assert "redacted" in told["Secret"][0]["there"]
    assert yaml.safe_load(fleet.run("drift", "-o", "yaml").stdout)["totals"]["missing"] == 1
    for form in ("text", "markdown"):
        for width in (None, 40):
            text = fleet.run("drift", "-o", form, width=width).stdout
            assert "\x1b" not in text
            assert "/data/k" in text
    assert "(absent)" not in text
    assert (
        json.loads(fleet.run("drift", "--member", "a", "-o", "json").stdout)["totals"]["changed"]
        == 0
    )
    unknown = fleet.run("drift", "--only", "shpo")
    assert unknown.exit_code == 1
    assert "did you mean shop?" in unknown.stderr


def test_a_member_that_does_not_answer_is_an_error(fleet: Fleet, tmp_path: Path) -> None:
    fleet.members["a"].answers["GET"] = closes
    result = fleet.run("drift", "--detailed-exitcode", "--timeout", "1")
    assert result.exit_code == 1
    assert "4 of 8 objects could not be compared" in result.stderr
    broken = tmp_path / "broken"
    broken.write_text(f"token: {CANARY}")
    result = fleet.run("drift", "--member", "b", "--kubeconfig", f"b={broken}")
    assert result.exit_code == 1
    assert (
        f"{broken}: member b: is not a kubeconfig: it has no clusters and no contexts"
        in result.stderr
    )
    assert fleet.run("drift", "--kubeconfig", "b").exit_code == 1
    assert fleet.run("drift", "--kubeconfig", f"b={tmp_path / 'none'}").exit_code == 1


def test_a_provider_of_a_members_own_may_have_a_path_and_choose_a_context(
    fleet: Fleet, tmp_path: Path
) -> None:
    """Its objects name it, whatever it is called; a status asks with it as well."""
    config = yaml.safe_load(fleet.members["b"].kubeconfig())
    config["contexts"].append({"name": "elsewhere", "context": {"cluster": "gone", "user": "u"}})
    config["clusters"].append({"name": "gone", "cluster": {"server": "http://127.0.0.1:9"}})
    file = tmp_path / "own.yaml"
    file.write_text(yaml.safe_dump({**config, "current-context": "elsewhere"}))
    for resource in fleet.resources:
        if resource["urn"].endswith("kubernetes::dev/b"):
            resource["urn"] = (
                resource["urn"].replace("fleet:index:Fleet$", "").replace("dev/b", "tools")
            )
            resource["inputs"] |= {"kubeconfig": str(file), "context": "x"}
        if "@b/" in resource["urn"]:
            resource["provider"] = (
                "urn:pulumi:stack::project::pulumi:providers:kubernetes::tools::id"
            )
    fleet.keep()
    assert "no drift, of 8 objects compared on 2 members" in fleet.run("drift").stdout
    fleet.members["b"].asked.clear()
    status = fleet.run("status", "--live", "--by", "member")
    assert "not reached" not in status.stdout
    assert {method for method, _ in fleet.members["b"].asked} == {"GET", "PATCH"}


def test_fleets_may_have_members_of_one_name(fleet: Fleet) -> None:
    """A second fleet of the stack: its member ``a`` is another cluster, and its ``b`` does not answer."""
    own = json.dumps(fleet.resources)
    other = own.replace("dev/", "other/").replace("::dev", "::other").replace('"dev"', '"other"')
    mine, theirs = (fleet.members[name].kubeconfig() for name in "ab")
    for item in json.loads(other):
        if item["urn"].endswith("kubernetes::other/a"):
            item["inputs"]["kubeconfig"] = theirs
        if item["urn"].endswith("kubernetes::other/b"):
            item["inputs"]["kubeconfig"] = theirs.replace(
                str(fleet.members["b"].server.server_port), "9"
            )
        fleet.resources.append(item)
    fleet.keep()
    fleet.at("b", CONFIG)["data"]["k"] = "by hand"
    document = json.loads(fleet.run("drift", "-o", "json").stdout)
    told = {
        (item["fleet"], item["name"]): (
            bool(item["unreached"]),
            [each["kind"] for each in item["objects"]],
        )
        for item in document["members"]
    }
    assert told == {
        ("dev", "a"): (False, []),
        ("dev", "b"): (False, ["ConfigMap"]),
        ("other", "a"): (False, ["ConfigMap"]),
        ("other", "b"): (True, []),
    }
    assert document["totals"]["unreached"] == 1
    lines = fleet.run("drift").stdout.splitlines()
    assert [line for line in lines if "/" in line and " " not in line] == [
        "dev/b",
        "other/a",
        "other/b",
    ]
    file = fleet.folder.parent / "kubeconfig"
    file.write_text(mine)
    given = fleet.run("drift", "--kubeconfig", f"other/b={file}", "-o", "json")
    assert (given.exit_code, json.loads(given.stdout)["totals"]["unreached"]) == (0, 0)


def test_it_is_printed_for_people(fleet: Fleet) -> None:
    by_hand(fleet, "b", CONFIG, "data", "k", "by hand")
    by_hand(fleet, "b", SECRET, "data", "k", "aHVudGVyMgo=")
    del fleet.members["a"].objects[WEB]
    assert fleet.run("drift").stdout.splitlines() == [
        "a",
        "  - Deployment shop/web of ClusterResourcePlacement/shop: missing, somebody has deleted it",
        "b",
        "  ~ ConfigMap shop/c of ClusterResourcePlacement/shop",
        "    /data/k: one -> by hand",
        "  ~ Secret shop/s of ClusterResourcePlacement/shop",
        "    /data/k: has another value, which is secret",
        "2 objects changed by hand, 1 object missing, of 8 objects compared on 2 members",
    ]
    assert max(map(len, fleet.run("drift", width=60).stdout.splitlines())) <= 60


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--stack", "prod"), "is the state of stack stack of project project, not of stack prod"),
        (("--lost", "b"), "--lost is for --adopt"),
        (("--plugin", "m:C"), "--plugin is for --adopt"),
        (("--pass-over", "Eviction"), "--pass-over is for --adopt"),
        (("--as-of", "2026-01-01T00:00:00Z"), "--as-of is for --adopt"),
        (("nowhere",), "nowhere: cannot be read: No such file or directory"),
        (("--member", "z"), 'nothing was delivered by or to a member "z"'),
        (("--write",), "--write is for --adopt"),
        (("--adopt", "-o", "json"), "--adopt shows files and a plan"),
    ],
)
def test_wrong_use(fleet: Fleet, options: tuple[str, ...], words: str) -> None:
    result = run("drift", fleet.folder, "--state", fleet.state, *options)
    assert (result.exit_code, words in result.stderr) == (1, True), result.stderr
    assert result.stdout == ""
    assert all(member.asked == [] for member in fleet.members.values())


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
def test_wrong_kubeconfigs(
    fleet: Fleet, command: str, options: tuple[str, ...], words: str
) -> None:
    live = ("--live",) if command == "status" else ()
    result = fleet.run(command, *live, *options)
    assert (result.exit_code, words in result.stderr) == (1, True), result.stderr
    assert result.stdout == ""


def under(delivered: Delivered, **apply: Any) -> Fleet:
    """A fleet whose placement has an apply strategy, and on whose member ``b`` somebody scales and adds a label."""
    fleet = delivered(world(strategy={"applyStrategy": apply}))
    metadata = {"name": "web", "namespace": "shop", "labels": {"by": "hand"}}
    theirs = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": metadata,
        "spec": {"replicas": 4},
    }
    fleet.members["b"].apply(theirs, "kubectl")
    return fleet


SCALED = {"path": "/spec/replicas", "delivered": "1", "there": "4"}
LABELLED = {"path": "/metadata/labels/by", "delivered": None, "there": "hand"}
CONFLICT = 'an update of it is refused: Apply failed with 1 conflict: conflict with "kubectl": .spec.replicas'
ALONE = "left alone until the source changes it"
UNFORCED = {"type": "ServerSideApply", "serverSideApplyConfig": {"force": False}}


@pytest.mark.parametrize(
    ("apply", "differences", "then"),
    [
        ({}, [SCALED], None),
        ({"type": "ServerSideApply", "serverSideApplyConfig": {"force": True}}, [SCALED], None),
        ({"comparisonOption": "FullComparison"}, [LABELLED, SCALED], None),
        ({"whenToApply": "IfNotDrifted"}, [SCALED], ALONE),
        (
            {"whenToApply": "IfNotDrifted", "comparisonOption": "FullComparison"},
            [LABELLED, SCALED],
            ALONE,
        ),
        (UNFORCED, [SCALED], CONFLICT),
        ({**UNFORCED, "comparisonOption": "FullComparison"}, [LABELLED, SCALED], CONFLICT),
    ],
    ids=str,
)
def test_objects_are_compared_as_they_are_applied(
    delivered: Delivered, apply: Any, differences: list[Any], then: str | None
) -> None:
    fleet = under(delivered, **apply)
    (_, b) = json.loads(fleet.run("drift", "-o", "json").stdout)["members"]
    (web,) = b["objects"]
    assert (web["differences"], web["then"], web["error"]) == (differences, then, None)
    for form in ("text", "markdown"):
        assert (then or "") in fleet.run("drift", "-o", form).stdout
    assert fleet.run("drift", "--strict").exit_code == 3


def test_what_others_add_is_not_compared_where_it_cannot_be_told_from_defaults(
    delivered: Delivered,
) -> None:
    fleet = under(delivered, comparisonOption="FullComparison")
    fleet.members["b"].answers[f"POST {WEB.rpartition('/')[0]}"] = refuses(403)
    result = fleet.run("drift", "-o", "json")
    (web,) = json.loads(result.stdout)["members"][1]["objects"]
    assert (result.exit_code, web["differences"]) == (1, [SCALED])
    assert "the fields that others have added are not compared" in web["error"]


@pytest.mark.parametrize("from_render", [False, True])
def test_a_changed_strategy_is_a_change_once(
    delivered: Delivered, from_render: bool, tmp_path: Path
) -> None:
    """It is recorded, so that what has drifted is known without the source."""
    fleet = under(delivered, comparisonOption="FullComparison")
    if from_render:
        assert run("render", fleet.folder, "--out", tmp_path / "out").exit_code == 0
        fleet.state = tmp_path / "out" / "local" / "state.json"
    stack = () if from_render else ("--stack", "organization/project/stack")
    assert fleet.run("plan", *stack, "--detailed-exitcode").exit_code == 0
    world().write(fleet.folder)
    assert fleet.run("plan", *stack, "--detailed-exitcode").exit_code == 2


def test_what_is_compared_only_cannot_drift(delivered: Delivered) -> None:
    fleet = under(delivered, type="ReportDiff")
    assert "no drift, of 0 objects compared on 0 members" in fleet.run("drift").stdout
    result = fleet.run("drift", "--only", "shop")
    assert (result.exit_code, "shop: compares only" in result.stderr) == (1, True)
    assert "fleet status --live" in result.stderr


def told(fleet: Fleet, *options: object) -> dict[tuple[str, str], Any]:
    """What is said of each object that has drifted: its fields, or that it is missing; by member and kind."""
    document = json.loads(fleet.run("drift", "-o", "json", *options).stdout)
    return {
        (member["name"], item["kind"]): "missing"
        if item["missing"]
        else [each["path"] for each in item["differences"]]
        for member in document["members"]
        for item in member["objects"]
    }


def test_a_refresh_hides_no_drift(fleet: Fleet) -> None:
    """What was sent is recorded beside the objects, whose own entries the refresh has overwritten or removed."""
    fleet.at("b", CONFIG)["data"]["k"] = "by hand"
    fleet.at("b", SECRET)["data"]["k"] = "aHVudGVyMgo="
    del fleet.members["a"].objects[WEB]
    before = told(fleet)
    assert before == {
        ("a", "Deployment"): "missing",
        ("b", "ConfigMap"): ["/data/k"],
        ("b", "Secret"): ["/data/k"],
    }
    fleet.refresh()
    assert told(fleet) == before
    assert "of 8 objects compared on 2 members" in fleet.run("drift").stdout
    assert "state alone" not in fleet.run("drift").stdout


def test_a_state_that_hides_its_records_is_said_to_be_all_there_is(fleet: Fleet) -> None:
    secret = {
        "4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270",
        "ciphertext": "AAAA",
    }
    for resource in fleet.resources:
        for side in ("inputs", "outputs"):
            resource[side] |= {
                field: secret for field in ("contents", "kubeconfig") if field in resource[side]
            }
            if resource["type"].endswith(":Secret"):
                resource[side]["data"] = secret
    fleet.keep()
    fleet.at("b", CONFIG)["data"]["k"] = "by hand"
    result = fleet.run("drift", *fleet.asking())
    assert "6 objects compared with the state alone" in result.stdout
    assert "2 of 8 objects could not be compared" in result.stderr
    assert "a pulumi refresh" in fleet.run("drift", "-o", "markdown", *fleet.asking()).stdout
    assert told(fleet, *fleet.asking())["b", "ConfigMap"] == ["/data/k"]
    fleet.refresh()
    assert ("b", "ConfigMap") not in told(fleet, *fleet.asking())


def test_where_an_update_broke_the_state_of_each_object_counts(fleet: Fleet) -> None:
    fleet.driver.world.image = "web:2"
    fleet.update(fails={"b"})
    result = fleet.run("drift")
    assert "no drift, of 8 objects compared" in result.stdout
    assert "4 objects compared with the state alone: an update broke there" in result.stdout
    fleet.update()
    assert "state alone" not in fleet.run("drift").stdout


def karmada_world() -> karmada.KarmadaWorld:
    written = karmada.KarmadaWorld(members={name: karmada.member(name) for name in "ab"})
    written.objects = {
        "shop": SHOP,
        "web": karmada.deployment(),
        "policy": karmada.policy(placement=karmada.on("a", "b")),
    }
    return written


def test_replicas_that_members_keep_do_not_drift(delivered: Delivered) -> None:
    written = karmada_world()
    written.objects["web"]["metadata"]["labels"]["resourcetemplate.karmada.io/retain-replicas"] = (
        "true"
    )
    fleet = delivered(written)
    web = fleet.at("b", WEB)["spec"]
    web["replicas"] = 9
    assert told(fleet) == {}
    web["template"]["spec"]["containers"][0]["image"] = "by-hand"
    assert told(fleet) == {("b", "Deployment"): ["/spec/template/spec/containers/0/image"]}


def test_what_all_have_is_adopted_in_place(fleet: Fleet) -> None:
    for name in "ab":
        fleet.at(name, CONFIG)["data"] |= {"k": "adopted", "more": "not ours"}
    file = fleet.folder / "fleet.yaml"
    before = file.read_text()
    shown = fleet.run("drift", "--adopt")
    assert shown.exit_code == 0, shown.output
    assert "+  k: adopted" in shown.stdout
    assert file.read_text() == before
    assert fleet.run("drift", "--adopt", "--write").exit_code == 0
    assert file.read_text() == before.replace("k: one", "k: adopted")
    fleet.take_source()
    assert told(fleet) == {}


def test_what_one_has_becomes_an_override(fleet: Fleet) -> None:
    fleet.at("b", CONFIG)["data"]["k"] = "here"
    fleet.at("b", SECRET)["data"]["k"] = "aHVudGVyMgo="
    result = fleet.run("drift", "--adopt", "--write")
    assert result.exit_code == 0, result.output
    assert "Secret shop/s" in result.stdout
    override = yaml.safe_load((fleet.folder / "adopted-configmap-c.yaml").read_text())
    (rule,) = override["spec"]["policy"]["overrideRules"]
    assert rule["clusterSelector"]["clusterSelectorTerms"] == [
        {"labelSelector": {"matchLabels": {MEMBER_NAME_LABEL: "b"}}}
    ]
    assert rule["jsonPatchOverrides"] == [{"op": "add", "path": "/data/k", "value": "here"}]
    assert fleet.run("drift", "--write").exit_code == 1


def adopted(fleet: Fleet, file: str) -> Any:
    """A file that adoption has written; the next update then finds everything on the members as it is wanted."""
    result = fleet.run("drift", "--adopt", "--write")
    assert result.exit_code == 0, result.output
    before = copy.deepcopy({name: fleet.members[name].objects for name in "ab"})
    assert told(fleet)
    fleet.take_source()
    assert told(fleet) == {}
    assert {name: fleet.members[name].objects for name in "ab"} == before
    return yaml.safe_load((fleet.folder / file).read_text())


def test_what_one_has_becomes_an_override_policy_of_karmada(delivered: Delivered) -> None:
    fleet = delivered(karmada_world())
    by_hand(fleet, "b", WEB, "spec", "replicas", 5)
    policy = adopted(fleet, "adopted-deployment-web.yaml")
    assert (policy["kind"], policy["metadata"]) == (
        "OverridePolicy",
        {"name": "adopted-deployment-web", "namespace": "shop"},
    )
    (rule,) = policy["spec"]["overrideRules"]
    assert rule["targetCluster"] == {"clusterNames": ["b"]}
    assert rule["overriders"]["plaintext"] == [
        {"path": "/spec/replicas", "operator": "add", "value": 5}
    ]


def by_hand(fleet: Fleet, member: str, path: str, *way: Any) -> None:
    """Set a field of an object."""
    *steps, last, value = way
    there: Any = fleet.at(member, path)
    for step in steps:
        there = there[step]
    there[last] = value


def namespaced() -> karmada.KarmadaWorld:
    """A ResourcePlacement of a ConfigMap, whose namespace another placement brings."""
    selector = {
        "group": "",
        "version": "v1",
        "kind": "Namespace",
        "name": "shop",
        "selectionScope": "NamespaceOnly",
    }
    config = {"group": "", "version": "v1", "kind": "ConfigMap", "name": "c"}
    written = karmada.KarmadaWorld(members={name: kubefleet(name, {"zone": name}) for name in "ab"})
    written.objects = {
        "shop": SHOP,
        "c": SETTINGS,
        "space": placement("ClusterResourcePlacement", {"name": "space"}, selector),
        "config": placement("ResourcePlacement", {"name": "config", "namespace": "shop"}, config),
    }
    return written


def kubefleet(name: str, labels: dict[str, str]) -> dict[str, Any]:
    return {**MEMBER, "metadata": {"name": name, "labels": labels}, "spec": {"identity": IDENTITY}}


def placement(kind: str, metadata: dict[str, str], selector: dict[str, str]) -> dict[str, Any]:
    spec = {"resourceSelectors": [selector], "policy": {"placementType": "PickAll"}}
    version = "placement.kubernetes-fleet.io/v1beta1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "spec": spec}


def test_what_one_has_of_a_resource_placement_becomes_a_resource_override(
    delivered: Delivered,
) -> None:
    fleet = delivered(namespaced())
    by_hand(fleet, "b", CONFIG, "data", "k", "here")
    override = adopted(fleet, "adopted-configmap-c.yaml")
    assert (override["kind"], override["metadata"]["namespace"]) == ("ResourceOverride", "shop")
    assert override["spec"]["placement"] == {"name": "config", "scope": "Namespaced"}
    (rule,) = override["spec"]["policy"]["overrideRules"]
    assert rule["clusterSelector"]["clusterSelectorTerms"] == [
        {"labelSelector": {"matchLabels": {MEMBER_NAME_LABEL: "b"}}}
    ]


def test_what_is_in_an_envelope_drifts_and_is_left_to_people(delivered: Delivered) -> None:
    """After a refresh too; no file holds such an object as it is."""
    envelope = {
        "apiVersion": "placement.kubernetes-fleet.io/v1beta1",
        "kind": "ResourceEnvelope",
        "metadata": {"name": "e", "namespace": "shop"},
        "data": {"c.yaml": SETTINGS},
    }
    fleet = delivered(KubeFleetWorld(members={"a": {}, "b": {}}, extra=[envelope]))
    by_hand(fleet, "b", CONFIG, "data", "k", "by hand")
    for _ in range(2):
        assert told(fleet) == {("b", "ConfigMap"): ["/data/k"]}
        fleet.refresh()
    before = (fleet.folder / "fleet.yaml").read_text()
    result = fleet.run("drift", "--adopt", "--write")
    assert "b: ConfigMap shop/c /data/k: no file holds the object as it is" in result.stdout
    assert (fleet.folder / "fleet.yaml").read_text() == before


def test_a_lost_member_is_not_asked(fleet: Fleet) -> None:
    """Whether an update has given it up already, or has marked it and then broke."""
    (roster,) = (resource for resource in fleet.resources if resource["type"].endswith(":Roster"))
    for side in ("inputs", "outputs"):
        roster[side]["members"]["b"] = "lost"
    fleet.keep()
    fleet.members["b"].asked.clear()
    result = fleet.run("drift")
    assert (result.exit_code, "is lost: nobody asks it" in result.stdout) == (1, True)
    assert "4 of 8 objects could not be compared" in result.stderr
    fleet.driver.world.config["lost"] = ["b"]
    fleet.update()
    assert "no drift, of 4 objects compared on 1 member" in fleet.run("drift").stdout
    result = fleet.run("drift", "--member", "b")
    assert (result.exit_code, "member b: is lost" in result.stderr) == (1, True)
    assert fleet.members["b"].asked == []


def test_without_a_state_there_is_nothing_to_hold_against(fleet: Fleet) -> None:
    result = run("drift", fleet.folder)
    assert result.exit_code == 1
    assert "there is no state" in result.stderr
