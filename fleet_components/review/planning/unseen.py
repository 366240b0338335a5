"""Words for what an observed directory does not show: the hub may have what policies select, and
what it sent.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

import attrs

from fleet_components.admission import KINDS
from fleet_components.content.observed import POLICIES
from fleet_components.content.three_way import Shape, shape, shape_of
from fleet_components.hub.folder.reading import Remembered, read_inventory
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message, Wording
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few
from fleet_components.plan.asked_objects import UNSEEN
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.source import CARRIED_OUT, Source
from fleet_components.plan.subject import Decided

_SELECTORS = ("spec", "resourceSelectors")
_HINT = (
    "the observation knows nothing of such an object: add its file, or fleet observe --update once"
    " this is applied"
)


def with_unseen(plan: FleetPlan) -> FleetPlan:
    """Return a plan that warns of what its policies select and nobody has observed, since a hub may
    select it.

    Args:
        plan: a plan that starts from an observed hub, of which only what policies select is
            observed.
    """
    subjects = tuple(_of_subject(subject).by_hub() for subject in plan.subjects)
    return attrs.evolve(plan, subjects=subjects, warnings=tuple(map(_hinted, plan.warnings)))


def new_selectors(plans: Iterable[FleetPlan], observed: Remembered) -> tuple[str, ...]:
    """Return the policies that were not observed and select what was not: the hub may have more of
    it.

    What a policy selected when it was observed is in the observation, so that it may well select
    nothing.
    """
    found = (
        problem
        for plan in plans
        for problem in (
            *plan.warnings,
            *(each for subject in plan.subjects for each in subject.subject.warnings),
        )
        if problem.message.code in UNSEEN
    )
    # What stood in the observation was observed with what it selects.
    written = {str(observed.folder / path) for path in observed.written}
    return tuple(sorted({problem.subject for problem in found if problem.file not in written}))


def for_hub(problem: Problem) -> Problem:
    """Return a problem worded for an observed hub, which is there instead of a state."""
    return attrs.evolve(problem, wording=problem.wording | Wording.OBSERVED)


def _of_subject(decided: Decided) -> Decided:
    warnings = tuple(map(_hinted, decided.subject.warnings))
    if warnings == decided.subject.warnings:
        return decided
    subject = attrs.evolve(decided.subject, warnings=warnings)  # type: ignore[misc]
    return attrs.evolve(decided, subject=subject)


def _hinted(problem: Problem) -> Problem:
    """Return a warning about a selector with the hint that helps where only a part of a hub is
    known.
    """
    if problem.path[:2] != _SELECTORS or problem.message.code in UNSEEN:
        return problem
    return attrs.evolve(problem, hint="; ".join(filter(None, [problem.hint, _HINT])))


# Changes of policies that only a hub carries out: named, since no plan forecasts what the hub
# makes of them.


NEW, EDITED, REMOVED = "new", "edited", "removed"


@attrs.frozen
class HubOnlyChange:
    """Change of a policy that no plan carries out.

    Attributes:
        kind: its kind.
        file: its file.
        change: ``new``, ``edited`` or ``removed``.
    """

    kind: str
    file: str
    change: str


def hub_only_changes(observed: Remembered, source: Source) -> tuple[HubOnlyChange, ...]:
    """Return what files say otherwise of such policies than the hub did when it was observed.

    Args:
        observed: the memory of the directory. Of one without a whole inventory nothing is known.
        source: the fleet, with the policies that are not carried out.
    """
    try:
        inventory = read_inventory(observed.folder)
    except FleetError:
        return ()
    there = {
        _identity(item): (path, item)
        for part in (inventory.objects, inventory.own)
        for path, item in part.items()
        if path.startswith(f"{POLICIES}/")
    }
    keys = {item.key for item in source.not_carried_out}
    given = (_own(manifest) for manifest in source.given.manifests if manifest.key in keys)
    # In the shape in which the inventory keeps objects, so that the two can be compared.
    here = {_identity(shape_of(own.data)): own for own in given}
    kinds = {shape(kind): kind for _, kind in KINDS if kind not in CARRIED_OUT}
    found = [
        *_changed(here, there),
        *(
            HubOnlyChange(kinds[item["kind"]], str(observed.folder / path), REMOVED)
            for identity, (path, item) in there.items()
            if identity not in here and item["kind"] in kinds
        ),
    ]
    return tuple(sorted(found, key=lambda change: (change.kind, change.file)))


def hub_only_warnings(changes: Sequence[HubOnlyChange]) -> Iterator[Problem]:
    """Yield a warning that names the files."""
    if changes:
        files = [f"{change.file} ({change.change})" for change in changes]
        what = Message(
            "only-hub-carries-out",
            "only the hub carries out what has changed here, and it may move or delete objects:"
            " {files}",
            files=few(files, 5),
        )
        yield Problem(
            what, hint="nothing of that is forecast; once it is applied, observe and plan again"
        )


def hub_only_in_words(kinds: Sequence[str]) -> str:
    """Return a part of a headline: ``the hub alone carries out a change of 2 Remedies``; empty
    without one.
    """
    counted = [count(number, kind, kind) for kind, number in sorted(Counter(kinds).items())]
    return f"the hub alone carries out a change of {few(counted)}" if counted else ""


def _own(manifest: Manifest) -> Manifest:
    """Return what people have of an object, without what an observation keeps apart."""
    parts = manifest.origin.parts if manifest.origin else ()
    # The first part is the file of people; the others are what an observation keeps apart.
    return parts[0] if parts else manifest


def _identity(item: Shape) -> tuple[Shape, ...]:
    metadata = item.get("metadata", {})
    return item.get("apiVersion"), item.get("kind"), metadata.get("namespace"), metadata.get("name")


def _changed(
    here: dict[tuple[Shape, ...], Manifest], there: dict[tuple[Shape, ...], tuple[str, Shape]]
) -> Iterator[HubOnlyChange]:
    for identity, own in here.items():
        change = (
            NEW
            if identity not in there
            else EDITED
            if there[identity][1] != shape_of(own.data)
            else ""
        )
        if change:
            yield HubOnlyChange(own.kind, own.origin.file if own.origin else own.name, change)
