"""A checked step of a story: what the plan says is held against what the API servers have afterwards."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest
from tests.delivery.driver import Outcome
from tests.engine.driver import Engine
from tests.engine.stories import Data, Story, unchanged
from tools.clusters.cluster import Cluster

Pair = tuple[str, str]
"""An API server, and an object on it as ``Kind namespace/name``."""
Run = Callable[[Engine[Story]], Outcome]
LOSES = ("deleted", "swept", "undone")
"""Fates of objects that an update deletes from their member."""
_CONTROLLED = {
    *("events", "events.events.k8s.io", "leases.coordination.k8s.io", "endpoints"),
    *("endpointslices.discovery.k8s.io", "pods", "replicasets.apps", "controllerrevisions.apps"),
    *("componentstatuses", "nodes", "ipaddresses.networking.k8s.io"),
}
"""Kinds that controllers write all the time."""
_IN_EVERY_NAMESPACE = {("ConfigMap", "kube-root-ca.crt"), ("ServiceAccount", "default")}
_METADATA = ("labels", "annotations", "finalizers", "ownerReferences")
_MARKS = ("fleet-components/", "pulumi.com/", "deployment.kubernetes.io/", "kubectl.kubernetes.io/")


@attrs.frozen
class Live:
    """An object on an API server: its uid, and its content without status and without the marks of its writers."""

    uid: str
    content: Data


@attrs.frozen
class Called:
    """What a plan announces, as pairs of API server and object.

    Attributes:
        deleted: what is deleted from its member.
        replaced: what is deleted and created anew.
        created: what is not there and comes in this update.
        updated: what changes in place.
        unknown: what may be written already, or be gone, as the engine was killed there.
    """

    deleted: frozenset[Pair]
    replaced: frozenset[Pair]
    created: frozenset[Pair]
    updated: frozenset[Pair]
    unknown: frozenset[Pair] = frozenset()

    @classmethod
    def of(cls, plan: Mapping[str, Any], where: Mapping[str, str]) -> Called:
        """Return what a plan document announces; every placement has to be compared with what stands.

        Args:
            plan: the document, with all placements.
            where: the API server of each member.
        """
        leaving = [item for item in plan["gone"]["objects"] if item["fate"] in LOSES]
        gone = {(where[item["member"]], item["object"]) for item in leaving}
        anew = {(where[item["member"]], item["object"]) for item in plan["replaced"]}
        changes: dict[str, set[Pair]] = {
            "create": set(),
            "update": set(),
            "replace": set(),
            "delete": set(),
        }
        unknown = set[Pair]()
        for subject in plan["subjects"]:
            assert subject["content"] is not None, subject["uncompared"]
            for entry in subject["content"]:
                if not entry["later"] and entry["fate"] not in ("kept", "forgotten"):
                    pairs = {(where[member], entry["object"]) for member in entry["members"]}
                    changes[entry["change"]] |= pairs
                    unknown |= pairs if entry["unknown"] else set()
        # One comparison: the lists of the whole and those of the placements say the same.
        assert changes["delete"] <= gone, (changes["delete"], gone)
        assert changes["replace"] == anew, (changes["replace"], anew)
        created, updated = frozenset(changes["create"]), frozenset(changes["update"])
        return cls(frozenset(gone), frozenset(anew), created, updated, frozenset(unknown))


@attrs.frozen
class Step:
    """A step of a story that was checked.

    Attributes:
        shown: the preview before it.
        done: the update.
        plan: the plan document before it.
        status: what ``fleet status`` says after it.
        before, after: what stood, and what stands, by API server and object.
    """

    shown: Outcome
    done: Outcome
    plan: Mapping[str, Any]
    status: str
    before: Mapping[Pair, Live]
    after: Mapping[Pair, Live]


def checked(
    engine: Engine[Story],
    run: Run = Engine.up,
    *,
    fails: bool | None = False,
    settled: bool = True,
    others: str = "",
    on: Collection[str] = (),
    unrecorded: Collection[Pair] = (),
) -> Step:
    """Carry out a step, and hold against each other what was announced, what was done and what is said of it.

    - What vanishes or gets another uid was called so by the plan, as was what comes and what changes.
    - If the step goes well, everything that was called so has happened, an unchanged second preview is empty, and
      ``fleet status``, with and without ``--live``, says that everything is as decided.
    - If it fails, ``fleet status`` says that something is left. A refused step changes nothing.

    Args:
        engine: the stack.
        run: carries the step out.
        fails: True if it fails; None if it may.
        settled: False if it goes well and still leaves something for later: ``fleet status`` has to say so.
        others: the start of ``Kind namespace/name`` of objects that others create or change at the same time.
        on: the API servers that answer; all if empty.
        unrecorded: objects at whose creation an earlier update was killed: they may stand, and a plan
            calls them created all the same.
    """
    shown, plan, before = engine.preview(), planned(engine), standing(engine, on)
    done = run(engine)
    after = standing(engine, on)
    assert fails is None or done.ok is not fails, done.text
    assert "Traceback" not in done.text, done.text
    if plan["refused"]:
        assert before == after, "a refused update has changed something"
    else:
        called = Called.of(plan, engine.world.where)
        called = attrs.evolve(
            called, unknown=called.unknown.union(called.created & set(unrecorded))
        )
        compare(called, before, after, complete=done.ok, others=others)
    ends = 0 if done.ok and settled else 2
    status = said(engine, "status", ends)
    if done.ok:
        assert shown.ok, shown.text
        unchanged(engine)
    if not on:
        said(engine, "status", ends, "--live")
    return Step(shown, done, plan, status, before, after)


def compare(
    called: Called,
    before: Mapping[Pair, Live],
    after: Mapping[Pair, Live],
    *,
    complete: bool,
    others: str = "",
) -> None:
    """Check that what happened was called so, and, if the update is complete, that what was called so happened."""
    vanished, came = before.keys() - after.keys(), after.keys() - before.keys()
    both = before.keys() & after.keys()
    anew = {pair for pair in both if before[pair].uid != after[pair].uid}
    changed = {pair for pair in both - anew if before[pair].content != after[pair].content}
    lost, hidden = (
        called.deleted | called.replaced,
        {pair for pair in came | changed if _by_others(pair, others)},
    )
    # What is in a namespace, or of a kind, that is deleted goes with it.
    uncalled = {pair for pair in vanished - lost if not _within(pair, called.deleted, before)}
    assert not uncalled, f"gone, and not called so: {sorted(uncalled)}"
    assert anew <= called.replaced, (
        f"made anew, and not called so: {sorted(anew - called.replaced)}"
    )
    uncalled = came - called.created - called.replaced - called.unknown - hidden
    assert not uncalled, f"new, and not called so: {sorted(uncalled)}"
    uncalled = changed - called.updated - called.replaced - called.unknown - hidden
    assert not uncalled, f"changed, and not called so: {_differences(uncalled, before, after)}"
    if complete:
        stays = called.deleted & after.keys()
        assert not stays, f"called deleted, and still there: {sorted(stays)}"
        stays = called.replaced - anew - came - called.unknown
        assert not stays, f"called replaced, and the same: {sorted(stays)}"
        assert called.created <= after.keys(), (
            f"called created, and not there: {sorted(called.created - after.keys())}"
        )


def planned(engine: Engine[Story], *options: str) -> Mapping[str, Any]:
    """The plan of the project, on the state as it stands, as a document."""
    file = engine.folder / "state.json"
    code, text = engine.command("stack", "export", "--show-secrets", "--file", str(file))
    assert code == 0, text
    # A stack in which nothing was ever done has no state that a plan could start from.
    state = ("--state", str(file)) if engine.state().resources else ()
    asked = ("plan", ".", "--stack", engine.name, *state, "--all", "-o", "json", *options)
    with engine.fleet(*asked) as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode in (0, 3), err
    found: Mapping[str, Any] = json.loads(out)
    return found


def said(engine: Engine[Story], command: str, ends: int, *options: str) -> str:
    """What a command that reads the stack says; it has to end with this status."""
    asked = (command, ".", "--stack", engine.name, "--detailed-exitcode", *options)
    with engine.fleet(*asked, COLUMNS="100") as process:
        out, err = process.communicate(timeout=300)
    assert process.returncode == ends, (
        f"{' '.join(asked)} ended with {process.returncode}:\n{out}\n{err}"
    )
    assert "Traceback" not in err, err
    return out


def standing(engine: Engine[Story], on: Collection[str] = ()) -> dict[Pair, Live]:
    """What API servers have of a story: the objects of its namespaces, and those that it has written; all if empty."""
    tale = engine.world
    spaces = (tale.space, f"{tale.space}-too")
    found = {}
    for name in on or tale.planes:
        for data in objects_on(tale.planes[name]):
            key = Manifest(data).key
            if key in tale.written or key.namespace in spaces or key.name in spaces:
                found[name, str(key)] = Live(data["metadata"]["uid"], _content(data))
    return found


def objects_on(plane: Cluster) -> Iterator[Data]:
    """Yield all objects of an API server that no controller owns."""
    kinds = plane.kubectl(
        "api-resources", "--verbs=list,delete", "-o", "name", "--cached=false"
    ).split()
    listed = plane.get(",".join(sorted(set(kinds) - _CONTROLLED)), "--all-namespaces")
    for data in (listed or {}).get("items", ()):
        made_by_itself = (data["kind"], data["metadata"]["name"]) in _IN_EVERY_NAMESPACE
        owned = bool(data["metadata"].get("ownerReferences"))
        if _is_ours(data) or not (made_by_itself or owned):
            yield data


def _is_ours(data: Data) -> bool:
    return "fleet-components/stack" in (data["metadata"].get("annotations") or {})


def _content(data: Data) -> Data:
    metadata = {name: data["metadata"].get(name) for name in _METADATA}
    annotations = {
        k: v for k, v in (metadata["annotations"] or {}).items() if not k.startswith(_MARKS)
    }
    kept = {name: value for name, value in data.items() if name not in ("metadata", "status")}
    return {**kept, "metadata": {**metadata, "annotations": annotations}}


def _by_others(pair: Pair, others: str) -> bool:
    return bool(others) and pair[1].startswith(others)


def _within(pair: Pair, deleted: frozenset[Pair], before: Mapping[Pair, Live]) -> bool:
    """Return whether an object lives in a namespace, or is of a custom kind, that is deleted from its member."""
    member, text = pair
    kind, _, name = text.partition(" ")
    spaces = {
        item.partition(" ")[2]
        for on, item in deleted
        if on == member and item.startswith("Namespace ")
    }
    kinds = {
        before[on, item].content["spec"]["names"]["kind"]
        for on, item in deleted
        if on == member and item.startswith("CustomResourceDefinition ") and (on, item) in before
    }
    return kind in kinds or ("/" in name and name.partition("/")[0] in spaces)


def _differences(
    pairs: set[Pair], before: Mapping[Pair, Live], after: Mapping[Pair, Live]
) -> Sequence[tuple[Pair, Any]]:
    found = []
    for pair in sorted(pairs):
        old, new = before[pair].content, after[pair].content
        fields = [name for name in old.keys() | new.keys() if old.get(name) != new.get(name)]
        found.append((pair, {name: (old.get(name), new.get(name)) for name in fields}))
    return found
