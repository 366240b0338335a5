"""Members with an agent of KubeFleet: it writes what a stack has sent, compares, and reports what came of it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.content.availability import trackable
from fleet_components.content.difference import differences
from fleet_components.model.manifest import Manifest, ObjectKey, value_at
from fleet_components.model.observed import (
    Applied,
    Available,
    FieldDifference,
    ObservedMember,
    ObservedObject,
)
from fleet_components.plan.apply_mode import ApplyMode, TakeOver
from tests.delivery.kubefleet.recording import key_of, merged
from tests.delivery.recording import Data, Step

_STAMPS = ("fleet-components/", "pulumi.com/")
_COUNTED = ("apps", "batch")
"""Groups of kinds whose objects count their generations."""
_AVAILABLE: Mapping[str, Available] = {
    "immediate": "Available",
    "trackable": "Available",
    "untrackable": "NotTrackable",
}
Path = tuple[str | int, ...]


@attrs.define(slots=False)
class _Live:
    """An object on a member.

    Attributes:
        data: the object.
        owner: the placement that has written it or taken it over; empty if none has.
        sent: what the agent wrote last; None if it wrote nothing.
        generation: how often its spec was written, where that is counted.
        by_hand: fields that somebody else has set.
    """

    data: Data
    owner: str = ""
    sent: Data | None = None
    generation: int = 0
    by_hand: frozenset[Path] = frozenset()

    def become(self, data: Data) -> None:
        """Change it as an API server does."""
        if data.get("spec") != self.data.get("spec") and self.generation:
            self.generation += 1
        self.data = data


@attrs.define(slots=False)
class Members:
    """All members.

    Attributes:
        there: what is on them, by member and object.
        gone: namespaces that were deleted, each with its member; all others that nobody has brought are there.
    """

    there: dict[str, dict[ObjectKey, _Live]] = attrs.field(factory=dict)
    gone: set[tuple[str, str]] = attrs.field(factory=set)

    def touched(self, step: Step) -> None:
        """Let somebody do on members what was done in a step."""
        for action in step.data.get("memberAction", ()):
            here = self.there.setdefault(action["cluster"], {})
            if "apply" in action:
                here[Manifest(action["apply"]).key] = _made(action["apply"])
            if "object" in action and (live := here.get(Manifest(action["object"]).key)):
                live.by_hand |= set(_leaves(action["merge"]))
                live.become(merged(live.data, action["merge"]))
            if "delete" in action:
                self._remove(action["cluster"], Manifest(action["delete"]).key)

    def emptied(self, wanted: Mapping[tuple[str, str], Iterable[Data]]) -> None:
        """Delete what a placement has written or taken over, and wants no more."""
        keys = {
            place: {Manifest(data).key for data in objects} for place, objects in wanted.items()
        }
        for cluster, here in self.there.items():
            for key, live in list(here.items()):
                if live.owner and key not in keys.get((live.owner, cluster), ()):
                    self._remove(cluster, key)

    def reconciled(
        self, cluster: str, owner: str, objects: Iterable[Data], mode: ApplyMode, step: Step
    ) -> ObservedMember:
        """Bring the objects of a placement to a member, and say what came of each."""
        here = self.there.setdefault(cluster, {})
        unready = {
            _key(item) for item in step.after["memberObjects"].get(cluster, ()) if not ready(item)
        }
        found = {}
        for data in map(_clean, objects):
            key = Manifest(data).key
            seen = (
                self._compared(here, owner, data, mode)
                if mode.reports
                else self._written(cluster, owner, data, mode)
            )
            if seen.applied == "Applied":
                state = _AVAILABLE[trackable(Manifest(data))]
                seen = attrs.evolve(
                    seen, available="ManifestNotAvailableYet" if key_of(data) in unready else state
                )
            found[key] = seen
        return ObservedMember(found)

    def _remove(self, cluster: str, key: ObjectKey) -> None:
        here = self.there.get(cluster, {})
        self.gone |= {(cluster, key.name)} if key.kind == "Namespace" else set()
        for item in list(here):
            if item == key or (key.kind == "Namespace" and item.namespace == key.name):
                del here[item]

    def _compared(
        self, here: Mapping[ObjectKey, _Live], owner: str, data: Data, mode: ApplyMode
    ) -> ObservedObject:
        manifest = Manifest(data)
        live = here.get(manifest.key)
        if live is None:
            whole = FieldDifference("/", "(the whole object)")
            return ObservedObject(
                manifest.key, manifest.api_version, compared="FoundDiff", differences=(whole,)
            )
        found = tuple(_differing(live.data, data, full=mode.full))
        if found and live.owner != owner and mode.takes_over is TakeOver.IF_NO_DIFF:
            return attrs.evolve(_seen(live, data), compared="FailedToReportDiff")
        seen = _seen(live, data, differences=found)
        return attrs.evolve(seen, compared="FoundDiff" if found else "NoDiffFound")

    def _written(self, cluster: str, owner: str, data: Data, mode: ApplyMode) -> ObservedObject:
        manifest, here = Manifest(data), self.there[cluster]
        live = here.get(manifest.key)
        if live is None:
            if (cluster, manifest.namespace) in self.gone:
                error = (
                    f'error returned by the API server: namespaces "{manifest.namespace}" not found'
                )
                failed = ObservedObject(
                    manifest.key, manifest.api_version, applied="ManifestApplyFailed"
                )
                return attrs.evolve(failed, error=f"failed to create manifest object: {error}")
            live = here[manifest.key] = _made(data, owner)
            self.gone -= {(cluster, manifest.name)} if manifest.kind == "Namespace" else set()
        elif refused := _not_taken(live, owner, data, mode) or _kept(live, data, mode):
            return refused
        live.owner = owner
        if not mode.forces and (fields := sorted(_conflicts(live, data))):
            return _seen(live, data, applied="ManifestApplyFailed", error=_conflict(fields))
        live.become(_applied(live, data))
        live.sent, live.by_hand = data, frozenset()
        left = tuple(_differing(live.data, data, full=True)) if mode.full else ()
        # The agent looks again before long, and finds what is left.
        return _kept(live, data, mode) or _seen(live, data, applied="Applied", differences=left)


def ready(seen: Any) -> bool:
    """Whether a workload was ready when it was seen."""
    return all(
        seen.get(part, seen.get("replicas")) == seen.get("replicas")
        for part in ("readyReplicas", "updatedReplicas")
    )


def _not_taken(live: _Live, owner: str, data: Data, mode: ApplyMode) -> ObservedObject | None:
    """Why the agent leaves alone what is there already; None if it takes it over, or has it."""
    if live.owner == owner:
        return None
    if mode.takes_over is TakeOver.NEVER:
        return _seen(live, data, applied="NotTakenOver")
    if (owners := live.data["metadata"].get("ownerReferences")) and not mode.co_owned:
        words = " ".join(f"{{{_owner(item)}}}" for item in owners)
        refused = (
            "the object is already owned by some other sources(s) and co-ownership is disallowed"
        )
        error = (
            f"failed to take over a pre-existing object: {refused} (existingOwnerRefs: [{words}])"
        )
        return _seen(live, data, applied="FailedToTakeOver", error=error)
    if mode.takes_over is TakeOver.IF_NO_DIFF and (
        found := tuple(_differing(live.data, data, full=mode.full))
    ):
        return _seen(live, data, applied="FailedToTakeOver", differences=found)
    return None


def _owner(reference: Data) -> str:
    named = (
        f"APIVersion:{reference['apiVersion']} Kind:{reference['kind']} Name:{reference['name']}"
    )
    return f"{named} UID:<uuid> Controller:<nil> BlockOwnerDeletion:<nil>"


def _kept(live: _Live, data: Data, mode: ApplyMode) -> ObservedObject | None:
    """What somebody has changed since it was written, where the agent leaves it so; None if nobody has."""
    if not mode.stops_at_drift or live.sent != data:
        return None
    found = tuple(_differing(live.data, data, full=mode.full))
    return _seen(live, data, applied="FoundDrifts", differences=found) if found else None


def _conflicts(live: _Live, data: Data) -> Iterator[str]:
    """The fields that others have set, and the agent would set otherwise."""
    wanted = {path: value_at(data, path) for path in live.by_hand}
    return (
        _pointer(p).replace("/", ".")
        for p, v in wanted.items()
        if v is not None and v != value_at(live.data, p)
    )


def _conflict(fields: list[str]) -> str:
    words = f'Apply failed with 1 conflict: conflict with "unknown" using v1: {fields[0]}'
    return f"failed to apply the manifest object: an error is returned by the API server: {words}"


def _applied(live: _Live, data: Data) -> Data:
    """The object after a three-way merge."""
    gone = {
        difference.path
        for difference in differences(live.sent or {}, data)
        if difference.new is None
    }
    patched: Any = merged(live.data, data)
    for path in gone:
        patch: Any = None
        for part in reversed(path):
            patch = {part: patch}
        patched = merged(patched, patch) if all(isinstance(part, str) for part in path) else patched
    return patched  # type: ignore[no-any-return]


def _seen(live: _Live, data: Data, applied: Applied = "", **fields: Any) -> ObservedObject:
    manifest = Manifest(data)
    found = ObservedObject(
        manifest.key, manifest.api_version, applied=applied, generation=live.generation
    )
    return attrs.evolve(found, **fields)


def _differing(there: Data, wanted: Data, *, full: bool) -> Iterator[FieldDifference]:
    """The fields that differ; all that are on the member alone only in a full comparison."""
    plain = {
        **there,
        "metadata": {
            name: item for name, item in there["metadata"].items() if name != "ownerReferences"
        },
    }
    for difference in differences(plain, wanted):
        if difference.new is not None or full:
            yield from _fields(difference.path, difference.new, difference.old)


def _fields(path: Path, wanted: Any, there: Any) -> Iterator[FieldDifference]:
    """A field that differs: each value in it, where one side has nothing."""
    for below in (
        _leaves(there if wanted is None else wanted) if wanted is None or there is None else [()]
    ):
        yield FieldDifference(
            _pointer((*path, *below)), _text(value_at(wanted, below)), _text(value_at(there, below))
        )


def _leaves(data: Any, path: Path = ()) -> Iterator[Path]:
    """The paths of all values."""
    if not isinstance(data, Mapping):
        yield path
        return
    for name, value in data.items():
        yield from _leaves(value, (*path, name))


def _pointer(path: Iterable[str | int]) -> str:
    return "".join(f"/{part}" for part in path)


def _text(value: Any) -> str | None:
    # Of a state all numbers are floats.
    value = int(value) if isinstance(value, float) and value.is_integer() else value
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _made(data: Data, owner: str = "") -> _Live:
    counted = Manifest(data).group in _COUNTED
    return _Live(data, owner, data if owner else None, generation=int(counted))


def _clean(data: Data) -> Data:
    """An object without what the stack writes beside it."""
    metadata = dict(data["metadata"])
    for part in ("annotations", "labels"):
        kept = {
            name: text
            for name, text in (metadata.pop(part, None) or {}).items()
            if not name.startswith(_STAMPS)
        }
        metadata |= {part: kept} if kept else {}
    return {**data, "metadata": metadata}


def _key(seen: Data) -> tuple[str, str, str]:
    return seen["kind"], seen.get("namespace", ""), seen["name"]
