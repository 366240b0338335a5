"""Table of all fields that users may write and that are not carried out, and its application to
objects.

It covers the kinds that admission knows. The status of members is input, so its fields belong to
the table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache

from fleet_components.admission import KINDS
from fleet_components.admission.schema import Schema
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.text import few
from fleet_components.plan.effect import Effect, Elsewhere, IgnoredField, Unheeded
from fleet_components.plan.guard import PROTECTED
from fleet_components.systems.registry import SYSTEMS

_TABLES = tuple(system.fields for system in SYSTEMS.values())
STEERING = tuple(kind for table in _TABLES for kind in table.policies)
"""Kinds of policies: all that steers a fleet."""
ALL = (
    *STEERING,
    *(kind for table in _TABLES for kind in table.envelopes),
    *(kind for table in _TABLES for kind in table.members),
)
"""Kinds that are carried out: neither refused as a whole nor made by a hub."""
_PROTECTED = tuple(kind for table in _TABLES for kind in table.protected)
_NAMESPACED = {kind.name for kind in KINDS.values() if kind.namespaced}

# The order counts: an entry for some values comes before the one for all others of the field.
_METADATA: tuple[Unheeded, ...] = (
    Unheeded(
        kinds=STEERING,
        field="metadata.labels{}",
        effect=Effect.NOT_NEEDED,
        reason="nothing selects by it",
    ),
    Unheeded(
        kinds=tuple(kind for kind in ALL if kind not in _PROTECTED),
        field="metadata.annotations{}",
        only=(PROTECTED,),
        effect=Effect.NONE,
        reason="it protects placements, and objects that are placed",
        hint="write it there",
    ),
    Unheeded(
        kinds=_PROTECTED,
        field="metadata.annotations{}",
        only=(f"!{PROTECTED}",),
        effect=Effect.NOT_NEEDED,
        reason="nothing goes by it",
    ),
    Unheeded(
        kinds=tuple(kind for kind in ALL if kind not in _PROTECTED),
        field="metadata.annotations{}",
        effect=Effect.NOT_NEEDED,
        reason="nothing goes by it",
    ),
    Unheeded(
        kinds=tuple(kind for kind in ALL if kind not in _NAMESPACED),
        field="metadata.namespace",
        effect=Effect.NOT_NEEDED,
        reason="a cluster-scoped object has none; an API server drops it",
    ),
    Unheeded(
        kinds=ALL,
        field="metadata.generateName",
        effect=Effect.NOT_NEEDED,
        reason="an object has to have a name, which counts",
    ),
    Unheeded(
        kinds=ALL,
        field="metadata.finalizers[]",
        only=("*kubernetes-fleet.io/*", "*karmada.io/*"),
        effect=Effect.NOT_NEEDED,
        reason="a hub writes it for itself",
    ),
    Unheeded(
        kinds=ALL,
        field="metadata.finalizers[]",
        effect=Effect.NONE,
        on_hub="the object stays until they are gone",
        reason="an object that is taken out of the source is gone at once",
        hint=f'the annotation {PROTECTED}: "true" protects a placement or an object that is placed',
    ),
    Unheeded(
        kinds=ALL,
        field="metadata.ownerReferences",
        effect=Effect.NONE,
        on_hub="the object goes with its owner",
        reason="no object goes with its owner",
        hint="take it out of the source when it is to go",
    ),
    Unheeded(
        kinds=STEERING,
        field="metadata.deletionTimestamp",
        effect=Effect.REFUSED,
        on_hub="the object is about to go",
        reason="what is being deleted would be carried out as if it were not",
        hint="take the object out, or the timestamp",
    ),
    *(
        Unheeded(
            kinds=ALL,
            field=f"metadata.{field}",
            effect=Effect.NOT_NEEDED,
            reason="an API server writes it for itself",
        )
        for field in (
            "creationTimestamp",
            "deletionGracePeriodSeconds",
            "generation",
            "managedFields",
            "resourceVersion",
            "selfLink",
            "uid",
        )
    ),
)

EFFECTS: tuple[Unheeded, ...] = (
    # Before the general entries, so that what a system says about metadata counts.
    *(entry for table in _TABLES for entry in table.effects),
    *_METADATA,
)
"""The table. A field of :data:`KINDS` without an entry is carried out."""
ELSEWHERE: tuple[Elsewhere, ...] = tuple(entry for table in _TABLES for entry in table.elsewhere)
"""Of the fields that are carried out, those that other deliveries treat otherwise."""


def unheeded(
    manifests: Iterable[Manifest],
    settings: object,
    *,
    hub: Callable[[Manifest], bool] = lambda _: False,
) -> tuple[list[Problem], list[Problem]]:
    """Return refusals and warnings for fields of objects that are not carried out; similar warnings
    are merged.

    Args:
        manifests: the objects, as written.
        settings: how the Karmada control plane would be set up.
        hub: returns whether a hub carries one out, and a plan is its forecast: what the hub
            observes is refused nowhere then, and left out where the plan would do otherwise.
    """
    refused: list[Problem] = []
    alike: dict[tuple[Unheeded, str, bool], list[IgnoredField]] = {}
    for manifest in manifests:
        for found in _found(manifest, settings):
            heeded = bool(found.entry.on_hub) and hub(manifest)
            if found.entry.effect is Effect.REFUSED and not heeded:
                refused.append(found.problem())
            # If a hub carries it out, the warning is about what the forecast lacks.
            elif found.entry.left_out if heeded else found.entry.effect is Effect.NONE:
                alike.setdefault((found.entry, manifest.kind, heeded), []).append(found)
    return refused, [_choice_of(found, heeded=heeded) for (_, _, heeded), found in alike.items()]


@cache
def entries_of(api_version: str, kind: str) -> tuple[tuple[Unheeded, Schema], ...]:
    """Return the table's entries for a kind, each with the schema of its field, without fields of
    other versions.
    """
    # Another version of the kind may lack a field of the table.
    known = KINDS.get((api_version, kind))
    schemas = dict(known.structure.walk()) if known else {}
    return tuple(
        (entry, schemas[entry.steps])
        for entry in EFFECTS
        if kind in entry.kinds and entry.steps in schemas
    )


def _found(manifest: Manifest, settings: object) -> Iterator[IgnoredField]:
    """Yield the uses of the table's fields in an object; of several entries for one place the first
    counts.
    """
    taken = set()
    for entry, schema in entries_of(manifest.api_version, manifest.kind):
        # A whole kind is refused as one.
        for found in entry.found(schema, manifest, settings) if entry.field else ():
            if found.path not in taken:
                taken.add(found.path)
                yield found


def _choice_of(found: list[IgnoredField], *, heeded: bool) -> Problem:
    """Return one warning for objects with the same problem, located at the first one."""
    first = found[0]
    others = {
        str(item.manifest.key): item.manifest
        for item in found
        if item.manifest.key != first.manifest.key
    }
    describe = first.left_out if heeded else first.problem
    return describe(few([f"{m.namespace}/{m.name}".lstrip("/") for m in others.values()]))
