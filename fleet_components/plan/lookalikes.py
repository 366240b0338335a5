"""Members that may have been renamed: one leaves, and another one joins and gets the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from fleet_components.model.problem import Problem
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.own_outputs import LOST


def lookalikes(plan: FleetPlan) -> Iterator[Problem]:
    """Yield a warning for each member that leaves while a single new one gets all that it had.

    A cluster that is known to be the same has been renamed already, and is none of them.
    """
    gone = (name for name in plan.members_gone if plan.past.members[name].state != LOST)
    had = _by_subjects(gone, ((decided.name, decided.before.decisions) for decided in plan.subjects))
    wanted = ((decided.name, decided.record.decisions) for decided in plan.subjects)
    gets = _by_subjects(plan.members_new, wanted)
    for subjects, left in had.items():
        joined = gets.get(subjects, [])
        if len(left) == len(joined) == 1:
            old, new = left[0], joined[0]
            what = f"leaves, and the new member {new} gets all that {old} had"
            hint = (
                "if it is the same cluster under another name, nothing has to move: "
                f"fleet:renamed with members: {{{new}: {old}}}"
            )
            yield Problem(what, subject=f"member {old}", hint=hint)


def _by_subjects(
    members: Iterable[str], decisions: Iterable[tuple[str, Collection[str]]]
) -> dict[frozenset[str], list[str]]:
    """Return the members by the subjects that they have, without those that have none."""
    subjects: dict[str, set[str]] = {name: set() for name in members}
    for subject, clusters in decisions:
        for name, those in subjects.items():
            if name in clusters:
                those.add(subject)
    found: dict[frozenset[str], list[str]] = defaultdict(list)
    for name, those in sorted(subjects.items()):
        if those:
            found[frozenset(those)].append(name)
    return found
