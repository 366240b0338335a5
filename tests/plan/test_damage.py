"""A damaged state is an error that names the resource, the field and what would mend it, and never a traceback."""

from __future__ import annotations

import base64
import copy
import json
import math
import re
import tempfile
import zlib
from functools import cache
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from fleet_components import Fleet, FleetError
from fleet_components.components.stack_members import members_of_stack
from fleet_components.content.revision import compress, decompress
from fleet_components.dynamic import (
    BindingProvider,
    MemberProvider,
    PlacementProvider,
    TemplateProvider,
)
from fleet_components.model.cluster import Cluster
from fleet_components.model.codec import encode
from fleet_components.plan.state import MEND, StackState, reveal
from fleet_components.review.documents.plan import plan_document
from fleet_components.review.planning.past import RENDER_ANEW, parse_state
from fleet_components.review.planning.survey import CommandLine, survey
from fleet_components.testing import run_program
from fleet_components.testing.mocks import CheckFailed
from tests.cli.fleets import run
from tests.fuzz.mutations import Path_, at, paths
from tests.plan.rich import FLEET, PROJECT, STACK, exported, history

pytestmark = pytest.mark.long

OWN = "pulumi-python:dynamic/fleet:"
TASK = {
    "replicas": 1,
    "reason": "TaintUntolerated",
    "created": "2026-11-21T09:55:00Z",
    "purgeMode": "Gracefully",
}
JUNK: list[Any] = [
    *(None, True, 0, -1, 7, 2.5, math.nan, math.inf, 10**30),
    *("", "x", "x" * 5000, "2026-01-01", "a/b", "Unknown", "9999-12-31T23:59:59Z"),
    *([], ["x"], [None], {}, {"x": 1}, {"a": {}}),
]
DELETED = object()
"""Stands for a field that is not there."""


def damaged(whole: Any, path: Path_, junk: Any) -> Any:
    """A copy with something else in one of its fields."""
    whole = copy.deepcopy(whole)
    above = at(whole, path[:-1])
    if junk is DELETED:
        del above[path[-1]]
    else:
        above[path[-1]] = junk
    return whole


@cache
def export() -> dict[str, Any]:
    """An export in which a template is being evicted as well."""
    whole = exported()
    for resource in whole["deployment"]["resources"]:
        if resource["type"] == f"{OWN}Template" and resource["urn"].endswith("/web"):
            for field in ("inputs", "outputs"):
                resource[field]["memory"]["schedule"]["evictions"] = {"c": TASK}
    return whole


@cache
def render() -> dict[str, Any]:
    """What a render of the directory leaves."""
    with tempfile.TemporaryDirectory() as place:
        assert run("render", folder(), "--out", place).exit_code == 0
        whole: dict[str, Any] = json.loads(Path(place, "local", "state.json").read_text())
        return whole


@cache
def folder() -> Path:
    """The directory, and the project around it."""
    place = Path(tempfile.mkdtemp())
    config = "config:\n  fleet:source: fleet\n  fleet:render: out\n  fleet:lost: d\n"
    (place / "Pulumi.yaml").write_text(f"name: {PROJECT}\nruntime: python\n")
    (place / f"Pulumi.{STACK}.yaml").write_text(config)
    (place / "__main__.py").write_text(
        f"from fleet_components import Fleet\n\nFleet.from_config({FLEET!r})\n"
    )
    history().world.write(place / "fleet")
    return place / "fleet"


def asked(state: Any, where: Path) -> CommandLine:
    """A command line with a state, for the directory or for the project around it."""
    return CommandLine(
        state=parse_state(json.dumps(state).encode(), "s.json"), project=where != folder()
    )


def planned(state: Any, where: Path) -> None:
    """Plan from a state; what is refused says what would do."""
    try:
        plan_document(survey([where], asked(state, where)))
    except FleetError as error:
        for problem in error.problems:
            assert problem.what
            assert problem.hint or problem.what.startswith("resource '"), problem
            if problem.hint in (MEND, RENDER_ANEW):
                assert problem.subject.startswith("urn:pulumi:") or problem.path, problem
                assert problem.file == "s.json"


def fields(whole: Any, own: bool = True) -> list[Path_]:
    """The fields of our own resources, or of all, in an order that is the same in each process."""
    found = (
        path for path in paths(whole) if not own or _resource(whole, path)["type"].startswith(OWN)
    )
    return sorted(found, key=lambda path: (_resource(whole, path)["urn"], str(path[2:])))


def _resource(whole: Any, path: Path_) -> dict[str, Any]:
    depth = 3 if path[0] == "deployment" else 2
    found = at(whole, path[:depth]) if len(path) >= depth else {}
    if not isinstance(found, dict) or "type" not in found:
        return {"type": "", "urn": ""}
    return {"urn": path[1], **found}


@pytest.mark.parametrize("own", [True, False])
@settings(max_examples=40)
@given(st.data())
def test_a_directory_is_planned_or_refused(own: bool, data: st.DataObject) -> None:
    whole = export()
    path = data.draw(st.sampled_from(fields(whole, own)))
    planned(damaged(whole, path, data.draw(st.sampled_from([*JUNK, DELETED]))), folder())


@settings(max_examples=40)
@given(st.data())
def test_from_a_render_it_is_planned_or_refused(data: st.DataObject) -> None:
    whole = render()
    path = data.draw(st.sampled_from(fields(whole, data.draw(st.booleans()))))
    planned(damaged(whole, path, data.draw(st.sampled_from([*JUNK, DELETED]))), folder())


@settings(max_examples=40)
@given(st.data())
def test_kept_contents_are_planned_or_refused(data: st.DataObject) -> None:
    """What is packed into text: each field of what is in it, and the text itself."""
    whole = render()
    texts = [path for path in fields(whole) if path[-2:-1] == ("contents",)]
    path = data.draw(st.sampled_from(texts))
    text = at(whole, path)
    if data.draw(st.booleans()):
        objects = decompress(text)
        inside = data.draw(st.sampled_from(list(paths(objects))))
        text = compress(damaged(objects, inside, data.draw(st.sampled_from([*JUNK, DELETED]))))
    else:
        text = text[: data.draw(st.integers(0, len(text)))]
    planned(damaged(whole, path, text), folder())


@settings(max_examples=12)
@given(st.data())
def test_a_project_is_planned_or_refused(data: st.DataObject) -> None:
    whole = export()
    path = data.draw(st.sampled_from(fields(whole, data.draw(st.booleans()))))
    planned(damaged(whole, path, data.draw(st.sampled_from([*JUNK, DELETED]))), folder().parent)


@settings(max_examples=15)
@given(st.data())
def test_a_program_runs_or_is_refused(data: st.DataObject) -> None:
    """What the engine hands over of the stack that runs, and as old inputs of what decides in it."""
    # Sorted: the order in which they are registered is not the same in each process.
    resources = dict(sorted(history().state.resources.items()))
    urn = data.draw(st.sampled_from([urn for urn in resources if "dynamic/fleet:" in urn]))
    item = resources[urn]
    for field in data.draw(st.sampled_from([("inputs",), ("outputs",), ("inputs", "outputs")])):
        whole = {field: json.loads(json.dumps(reveal(getattr(item, field))))}
        path = data.draw(st.sampled_from([path for path in paths(whole) if len(path) > 1]))
        junk = data.draw(st.sampled_from([*JUNK, DELETED]))
        assume(
            not isinstance(junk, float) or math.isfinite(junk)
        )  # nothing else passes through an engine
        item = attrs.evolve(item, **damaged(whole, path, junk))
    config = {"fleet:source": str(folder()), "fleet:render": "out", "fleet:lost": "d"}
    ran = run_program(
        lambda: Fleet.from_config(FLEET), state=StackState({**resources, urn: item}), config=config
    )
    assert ran.error is None or isinstance(ran.error, FleetError | CheckFailed), ran.error


PLACEMENT, TEMPLATE = f"{OWN}Placement::dev/shop", f"{OWN}Template::dev/shop/Deployment/web"
NAMED: dict[str, tuple[str, Path_, Any, str, str]] = {
    "no number": (PLACEMENT, ("decisions", "a", "wave"), "x", "decisions.a.wave", 'is text, not a whole number'),
    "a null": (PLACEMENT, ("memory", "bindings", "a", "rank"), None, "memory.bindings.a.rank", "is null, not a whole"),
    "not finite": (PLACEMENT, ("revision",), math.nan, "revision", "is not a number"),
    "missing": (PLACEMENT, ("digests",), DELETED, "digests", "is missing"),
    "no binding": (
        PLACEMENT,
        ("memory", "bindings", "a", "state"),
        "Bond",
        "memory.bindings.a.state",
        'is not Scheduled or Bound or Unscheduled',
    ),
    "no purge": (
        TEMPLATE,
        ("memory", "schedule", "evictions", "c", "purgeMode"),
        "Soon",
        "memory.schedule.evictions.c.purgeMode",
        'is not Gracefully or Directly or Never',
    ),
    "the kind of no policy": (
        TEMPLATE, ("memory", "claim", "policy", "kind"), "", "memory.claim.policy", 'is not the name of a policy',
    ),
    "a policy bound without a name": (
        TEMPLATE, ("memory", "claim", "bound", "policy", "name"), "", "memory.claim.bound.policy", 'is not the name of a policy',
    ),
    "no time": (
        TEMPLATE,
        ("memory", "schedule", "evictions", "c", "created"),
        "noon",
        "memory.schedule.evictions.c.created",
        'is not a time with a zone',
    ),
    "a policy that is none": (
        TEMPLATE,
        ("memory", "claim", "bound", "spec", "placement", "clusterAffinity", "clusterNames"),
        "a",
        "memory.claim.bound.spec.placement.clusterAffinity.clusterNames",
        'is text, not a list',
    ),
    "no subject": (PLACEMENT, ("key",), "shop", "key", "names no subject"),
    "no format": (PLACEMENT, ("format",), "one", "format", 'is text, not a whole number'),
    "no fleet": (PLACEMENT, ("fleet",), 3, "fleet", "is a number, not text"),
    "no member": (f"{OWN}Member::dev/a", ("member",), [], "member", "is a list, not text"),
    "nothing forgotten": (f"{OWN}Member::dev/d", ("forgotten",), ["a|b"], "forgotten", "has a text that is not apiVersion|Kind"),
    "no fate": (f"{OWN}Binding::dev/shop@a", ("keeps",), "some", "keeps", 'is not all or cluster-scoped'),
    "no sort of member": (f"{OWN}Roster::dev", ("members", "a"), "gone", "members", "says of a neither member nor lost"),
    "no share": (f"{OWN}Roster::dev", ("settings",), {"limit": 7}, "settings.limit", "is 7"),
    "no number of replicas": (
        TEMPLATE, ("memory", "schedule", "clusters"), {"a": 10**12}, "memory.schedule.clusters",
        "is not a number from 0 to 2147483647, for a",
    ),
    "no name": (
        TEMPLATE, ("memory", "schedule", "clusters"), {"../a": 1}, "memory.schedule.clusters",
        'has a key that is not the name of a member',
    ),
    "a negative rank": (PLACEMENT, ("memory", "bindings", "a", "rank"), -1, "memory.bindings.a.rank", "is not a number from 0"),
    "a huge wave": (PLACEMENT, ("decisions", "a", "wave"), 2**40, "decisions.a.wave", "is not a number from 1"),
    "another's name": (f"{OWN}Member::dev/a", ("member",), "../../a", "member", 'is not the name of a member'),
    "a name in the roster": (f"{OWN}Roster::dev", ("members",), {"a/b": "member"}, "members", 'has a key that is not the name of'),
    "a binding elsewhere": (f"{OWN}Binding::dev/shop@a", ("cluster",), "..", "cluster", 'is not the name of a member'),
    **{
        f"no policy: {key}": (
            TEMPLATE, ("memory", "policies"), {key: {"digest": ""}}, "memory.policies",
            'has a key that is not the name of a policy',
        )
        for key in ("web", "PropagationPolicy/web", "PropagationPolicy/shop/web/x", "PropagationPolicy//web", "Pod/shop/web")
    },
    "no wait": (f"{OWN}Roster::dev", ("settings",), {"maxWait": -1}, "settings.maxWait", "is -1"),
}  # fmt: skip


@pytest.mark.parametrize(("urn", "path", "junk", "field", "what"), NAMED.values(), ids=NAMED.keys())
def test_the_resource_and_the_field_are_named(
    urn: str, path: Path_, junk: Any, field: str, what: str
) -> None:
    whole = export()
    resources = whole["deployment"]["resources"]
    (index,) = [
        number for number, resource in enumerate(resources) if resource["urn"].endswith(urn)
    ]
    state = damaged(whole, ("deployment", "resources", index, "outputs", *path), junk)
    for where in (folder(), folder().parent):
        with pytest.raises(FleetError) as refused:
            survey([where], asked(state, where))
        (problem,) = refused.value.problems
        assert str(problem).startswith(
            f"s.json: {resources[index]['urn']}: outputs.{field}: {what}"
        )
        assert problem.hint == MEND


SHOP, WEB = "Placement::dev/shop", "Template::dev/shop/Deployment/web"
BINDING = "Binding::dev/shop@a"
LAST = "the last"
"""Stands for the highest of several revisions."""
DEPLOYED = "v1|ConfigMap|store|c"
FORGED: dict[str, tuple[str, Path_, Any, str]] = {
    "another fleet's decision": (SHOP, ("outputs", "fleet"), "prod", "outputs.fleet: is not what the URN says"),
    "another fleet's binding": (BINDING, ("outputs", "fleet"), "prod", "outputs.fleet: is not what the URN says"),
    "another fleet's member": ("Member::dev/a", ("outputs", "fleet"), "", "outputs.fleet: is not what the URN says"),
    "another fleet's roster": ("Roster::dev", ("outputs", "fleet"), "prod", "outputs.fleet: is not what the URN says"),
    "another key": (SHOP, ("outputs", "key"), "ClusterResourcePlacement/s", "outputs.key: is not what the URN says"),
    "the end of a key": (SHOP, ("outputs", "key"), "ClusterResourcePlacement/hop", "outputs.key: is not what the URN says"),
    "another kind": (SHOP, ("outputs", "key"), "ResourcePlacement/shop", "outputs.key: is not what the URN says"),
    "a template's kind": (SHOP, ("outputs", "key"), "Template/shop", "outputs.key: is not what the URN says"),
    "no template's kind": (
        WEB, ("outputs", "key"), "ResourcePlacement/shop/Deployment/web", "outputs.key: is not what the URN says",
    ),
    "another member": ("Member::dev/a", ("outputs", "member"), "b", "outputs.member: is not what the URN says"),
    "another member's key": ("Member::dev/a", ("outputs", "key"), "dev/b", "outputs.key: is not what the URN says"),
    "a binding of another member": (BINDING, ("outputs", "cluster"), "b", "outputs.cluster: is not what the URN says"),
    "a binding of another subject": (
        BINDING, ("outputs", "subject"), "ClusterResourcePlacement/staged", "outputs.subject: is not what the URN says",
    ),
    "another type": (SHOP, ("type",), f"{OWN}Template", "type: is not the type in the URN"),
    "no own type": (SHOP, ("type",), "random:index:Id", "type: is not the type in the URN"),
    "no memory": (SHOP, ("outputs", "memory"), {}, "outputs.memory: is missing"),
    "no outputs": (SHOP, ("outputs",), {}, "outputs.key: is missing"),
    "no digest of the current revision": (SHOP, ("outputs", "revision"), 7, "outputs.digests: has no digest of the current"),
    "another digest": (SHOP, ("outputs", "digests", LAST), "0" * 16, "outputs.contents."),
    "a revision below the range": (SHOP, ("outputs", "digests", "-1"), "0", "outputs.digests: has a key that is not a number"),
    "a revision above the range": (
        SHOP, ("outputs", "digests", str(2**31)), "0", "outputs.digests: has a key that is not a number from 0 to 2147483647",
    ),
    "kept by no name": ("Member::dev/d", ("outputs", "kept"), ["v1|ConfigMap|store|a/b"], "outputs.kept: has a"),
    "what no subject ran": ("Member::dev/d", ("outputs", "ran"), {"shop": {"revision": 1}}, "outputs.ran: has a key"),
    "a name with a slash": ("Member::dev/d", ("outputs", "forgotten"), ["v1|ConfigMap|store|a/b"], "outputs.forgotten: has a"),
    "no kind": ("Member::dev/d", ("outputs", "forgotten"), [DEPLOYED, "v1|Config Map|store|c"], "outputs.forgotten: has a"),
    "no version": ("Member::dev/d", ("outputs", "forgotten"), ["V 1|ConfigMap|store|c"], "outputs.forgotten: has a"),
    "no name at all": ("Member::dev/d", ("outputs", "forgotten"), ["v1|ConfigMap|store|"], "outputs.forgotten: has a"),
    "a format of nobody": (SHOP, ("outputs", "format"), 0, "outputs.format: is not a number from 1"),
    "almost deleted": (SHOP, ("delete",), "yes", "delete: is text, not true or false"),
}  # fmt: skip


@pytest.mark.parametrize("form", ["export", "render"])
@pytest.mark.parametrize(("name", "path", "junk", "said"), FORGED.values(), ids=FORGED.keys())
def test_what_is_forged_is_refused(form: str, name: str, path: Path_, junk: Any, said: str) -> None:
    """A plan from such a state would keep losses to itself, or count them for another."""
    whole = {"export": export, "render": render}[form]()
    urn, place = found_in(whole, name)
    if path[-1] == LAST:
        path = (*path[:-1], max(at(whole, (*place, *path[:-1]))))
    assert refusal(damaged(whole, (*place, *path), junk)).startswith(f"s.json: {urn}: {said}")


def found_in(whole: Any, name: str) -> tuple[str, Path_]:
    """The URN of one of our own resources, and its place in a state. In a render the fleet has no name of its own."""
    name = f":{name}"
    if "resources" in whole:
        name = name.replace(f"::{FLEET}", "::fleet")
        (urn,) = [urn for urn in whole["resources"] if urn.endswith(name) and OWN in urn]
        return urn, ("resources", urn)
    listed = enumerate(whole["deployment"]["resources"])
    ((index, urn),) = [
        (i, item["urn"]) for i, item in listed if item["urn"].endswith(name) and OWN in item["urn"]
    ]
    return urn, ("deployment", "resources", index)


def refusal(state: Any) -> str:
    """The first problem with which a state is refused."""
    with pytest.raises(FleetError) as refused:
        survey([folder()], asked(state, folder()))
    return str(refused.value.problems[0])


def test_a_fleet_that_is_not_recorded_is_read_from_the_urn() -> None:
    """The first states did not record it."""
    for whole in (export(), render()):
        _, place = found_in(whole, SHOP)
        survey([folder()], asked(damaged(whole, (*place, "outputs", "fleet"), DELETED), folder()))


def test_nothing_is_in_a_state_twice() -> None:
    whole = export()
    urn, (*_, index) = found_in(whole, SHOP)
    listed = whole["deployment"]["resources"]
    once_more = {"deployment": {"resources": [*listed, listed[index]]}}
    assert f"s.json: {urn}: urn: is in the state twice" in refusal(once_more)
    elsewhere = urn.replace("fleet:index:Fleet$", "my:index:App$fleet:index:Fleet$")
    moved = {"deployment": {"resources": [*listed, {**listed[index], "urn": elsewhere}]}}
    assert f"s.json: {elsewhere}: outputs: is kept twice, under two URNs" in refusal(moved)


def test_the_old_half_of_a_replacement_is_left_out() -> None:
    whole = export()
    _, (*_, index) = found_in(whole, SHOP)
    listed = whole["deployment"]["resources"]
    survey(
        [folder()],
        asked(
            {"deployment": {"resources": [*listed, {**listed[index], "delete": True}]}}, folder()
        ),
    )


def test_all_of_a_state_is_of_one_stack() -> None:
    for whole in (export(), render()):
        urn, _ = found_in(whole, "Member::dev/a")
        head, project, rest = urn.split("::", 2)
        forged = json.loads(json.dumps(whole).replace(urn, f"{head}::{project}x::{rest}"))
        assert "urn: is of another stack than the first resource" in refusal(forged)


def test_a_content_is_what_its_digest_was_made_of() -> None:
    whole = render()
    urn, place = found_in(whole, SHOP)
    (revision,) = at(whole, (*place, "outputs", "contents"))
    forged = damaged(whole, (*place, "outputs", "contents", revision), compress([]))
    said = f"s.json: {urn}: outputs.contents.{revision}: is not what its digest was made of"
    assert refusal(forged).startswith(said)


def test_a_render_has_nothing_that_is_to_be_deleted() -> None:
    whole = render()
    for said in (True, False):
        urn, place = found_in(whole, SHOP)
        assert f"s.json: {urn}: delete: is not in a render" in refusal(
            damaged(whole, (*place, "delete"), said)
        )


def test_a_render_has_a_decision_for_every_binding() -> None:
    whole = render()
    _, place = found_in(whole, SHOP)
    assert "has no decision in the state" in refusal(damaged(whole, place, DELETED))


def test_a_key_twice_is_refused() -> None:
    text = json.dumps(render()).encode()
    with pytest.raises(FleetError, match=r"^s\.json: is not JSON: has a key twice"):
        parse_state(text.replace(b'"resources":', b'"resources": {}, "resources":', 1), "s.json")


@pytest.mark.parametrize(
    ("what", "said"), [(b" ", "more than 4 MiB"), (b"[],", "more than 262,144 values")]
)
def test_all_contents_of_a_state_have_one_budget(
    what: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each text alone would pass."""
    monkeypatch.setenv("FLEET_MAX_FILE_MIB", "4")
    text = base64.b64encode(
        zlib.compress(b"[" + what * (3 * 2**20 if what == b" " else 100_000) + b"0]")
    ).decode()
    assert len(decompress(text)) > 0
    whole = render()
    for name in (SHOP, "Placement::dev/staged"):
        _, place = found_in(whole, name)
        whole = damaged(whole, (*place, "outputs", "contents", "0"), text)
    with pytest.raises(FleetError, match=f"stands for {said}"):
        survey([folder()], asked(whole, folder()))


@pytest.mark.parametrize("field", ["decisions", "memory.bindings"])
def test_a_decision_about_an_unknown_member_is_refused(field: str) -> None:
    """A forged state could otherwise name any place, and a damaged one would lose a member in silence."""
    whole, path = render(), tuple(field.split("."))
    (urn,) = [
        urn for urn in whole["resources"] if f"{OWN}Placement::" in urn and urn.endswith("/shop")
    ]
    held = at(whole, ("resources", urn, "outputs", *path))
    state = damaged(whole, ("resources", urn, "outputs", *path), {**held, "z": held["a"]})
    with pytest.raises(FleetError) as refused:
        survey([folder()], asked(state, folder()))
    (problem,) = refused.value.problems
    assert (problem.what, problem.hint) == (
        "decides about z, of which the state knows no member",
        RENDER_ANEW,
    )


ENGINE: dict[str, tuple[Any, str]] = {
    "no list": ({"deployment": {"resources": {"a": 1}}}, "deployment.resources: is not a list of resources"),
    "no resource": ({"deployment": {"resources": [3]}}, "deployment.resources[0]: is a number, not a map"),
    "no URN": ({"deployment": {"resources": [{"urn": "x", "type": "y"}]}}, 'deployment.resources[0].urn: is not a URN'),
    "no type": ({"deployment": {"resources": [{"urn": "urn:pulumi:a::b::c::d"}]}}, "urn:pulumi:a::b::c::d: type: is miss"),
    "no inputs": (
        {"deployment": {"resources": [{"urn": "urn:pulumi:a::b::c::d", "type": "c", "inputs": []}]}},
        "urn:pulumi:a::b::c::d: inputs: is a list, not a map",
    ),
    "a secret that is none": (
        {
            "deployment": {
                "resources": [
                    {
                        "urn": "urn:pulumi:a::b::c::d",
                        "type": "c",
                        "inputs": {"k": {"4dabf18193072939515e22adb298388d": "1b47061264138c4ac30d75fd1eb44270", "plaintext": "{"}},
                    }
                ]
            }
        },
        "urn:pulumi:a::b::c::d: inputs.k: is a secret that cannot be read",
    ),
    "a render of nothing": (
        {"format": "fleet-components/render", "version": 2, "resources": {"urn:pulumi:a::b::c::d": 3}},
        "urn:pulumi:a::b::c::d: is a number, not a map",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("state", "said"), ENGINE.values(), ids=ENGINE.keys())
def test_what_no_engine_writes_is_named(state: Any, said: str) -> None:
    with pytest.raises(FleetError, match=r"^s\.json: ") as refused:
        parse_state(json.dumps(state).encode(), "s.json")
    assert f"s.json: {said}" in str(refused.value)


def test_what_is_nested_too_deeply_is_refused() -> None:
    for levels in (300, 100_000):
        nested = f'{{"a": {"[" * levels}{"]" * levels}}}'
        text = f'{{"deployment": {{"resources": [{{"urn": "urn:pulumi:a::b::c::d", "type": "c", "inputs": {nested}}}]}}}}'
        with pytest.raises(FleetError, match=r"nested"):
            parse_state(text.encode(), "s.json")


def test_everything_that_is_damaged_is_named() -> None:
    whole = render()
    urns = [urn for urn in whole["resources"] if "dynamic/fleet:" in urn]
    for urn in urns:
        whole = damaged(whole, ("resources", urn, "outputs", "format"), "one")
    with pytest.raises(FleetError) as refused:
        survey([folder()], CommandLine(state=parse_state(json.dumps(whole).encode(), "s.json")))
    assert sorted(problem.subject for problem in refused.value.problems) == sorted(urns)
    assert {problem.hint for problem in refused.value.problems} == {RENDER_ANEW}


@pytest.mark.parametrize("provider", [PlacementProvider(), TemplateProvider()])
@pytest.mark.parametrize(
    "olds", [{"memory": 3}, {"format": []}, {"memory": {"snapshot": "x", "replicas": "x"}}]
)
def test_check_says_what_is_damaged(
    provider: Any, olds: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, stack = [], history()  # made before the check is another
    real = type(provider).check

    def check(self: Any, given: dict[str, Any], news: dict[str, Any]) -> Any:
        seen.append(real(self, {**given, **olds}, news))
        return seen[-1]

    with monkeypatch.context() as patched:
        patched.setattr(type(provider), "check", check)
        stack.run()
    assert seen
    for result in seen:
        (failure, *_) = result.failures
        assert "pulumi stack import" in failure.reason
        assert "memory" in failure.reason or "format" in failure.reason


@given(st.sampled_from(JUNK), st.sampled_from(JUNK), st.sampled_from(JUNK))
def test_what_only_records_takes_anything(uid: Any, since: Any, revision: Any) -> None:
    news = {
        "member": "a",
        "uid": "1",
        "confirm": [],
        "revision": 1,
        "since": "2026-01-01T00:00:00Z",
    }
    olds = {"uid": uid, "since": since, "revision": revision}
    assert BindingProvider().check(olds, news).failures == []
    failures = MemberProvider().check(olds, news).failures
    assert not failures or "leads to another cluster" in failures[0].reason


def test_what_another_stack_exports_is_refused_where_it_is_damaged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    whole = {"cluster": encode(Cluster("a", labels={"x": "y"})), "identifier": "id"}
    for path, junk, said in [
        (("cluster", "labels"), 3, "members.a.cluster.labels: is a number, not a map"),
        (("identifier",), [], "members.a.identifier: is a list, not text"),
        (("cluster",), DELETED, "members.a.cluster: is missing"),
    ]:
        exported = {"members": {"a": damaged(whole, path, junk)}}
        monkeypatch.setattr("pulumi.runtime.invoke", lambda *_, it=exported: Answer(it))
        monkeypatch.setattr("pulumi.StackReference", lambda *_: Reference())
        with pytest.raises(FleetError, match=re.escape(said)):
            members_of_stack("organization/shop/dev")


@attrs.frozen
class Answer:
    """What the engine answers."""

    outputs: Any

    @property
    def value(self) -> dict[str, Any]:
        return {"outputs": self.outputs}


class Reference:
    """Another stack."""

    def get_output(self, _: str) -> Reference:
        return self

    def apply(self, _: Any) -> str:
        return "kubeconfig"
