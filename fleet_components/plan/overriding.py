"""Find the override rules that are in force on each member, and number them.

Decisions and bindings name the rules of a member by a number, as they name its content by a
revision. A member keeps its number for as long as its rules make the same objects, so that a
changed override moves no others.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import attrs

from fleet_components.content.attribution import first_misfit
from fleet_components.content.overridden import Overridden
from fleet_components.content.revision import canonical
from fleet_components.model.cluster import Cluster
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.plan.record import Objects, Record, digest, overridden
from fleet_components.rollout.rollout import Done, Placed

_CHANGE = "change the rule"


class Overrides(ABC):
    """The overrides of one system, as far as they may concern one subject."""

    @abstractmethod
    def in_force(self, objects: Objects, member: Cluster) -> Objects:
        """Return the rules that are in force on a member, reduced to what their effect depends
        on, in their order.
        """

    def apply(self, objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return what rules make of each object, with the problem of one that fails, or that makes
        what no API server takes.
        """
        results = []
        for data, item in zip(objects, self.carry_out(objects, rules, member), strict=True):
            if item.problem:
                problem = self.explained(item.problem, data, rules)
                results.append(attrs.evolve(item, problem=problem))
            else:
                results.append(self._fitting(data, item, member))
        return results

    @property
    @abstractmethod
    def written(self) -> Mapping[str, Manifest]:
        """The overrides of the source, by ``Kind namespace/name``."""

    @abstractmethod
    def carry_out(self, objects: Objects, rules: Objects, member: Cluster) -> Sequence[Overridden]:
        """Return what rules make of each object."""

    @abstractmethod
    def explained(self, problem: Problem, data: Mapping[str, Any], rules: Objects) -> Problem:
        """Return the problem of a rule that fails on an object, with the place of the rule."""

    @staticmethod
    @abstractmethod
    def rule_path(override: Manifest, position: int) -> FieldPath:
        """Return the path of a rule in its override."""

    def _fitting(self, data: Mapping[str, Any], result: Overridden, member: Cluster) -> Overridden:
        found = first_misfit(data, result)
        if found is None:
            return result
        step, misfit = found
        what = Message(
            "makes-what-no-api",
            "makes what no API server takes, of {key} on {name}: {misfit}",
            key=Manifest(data).key,
            name=member.name,
            misfit=misfit,
        )
        manifest = self.written.get(step.override)
        if manifest:
            problem = manifest.problem(what, self.rule_path(manifest, step.rule), _CHANGE)
        else:
            problem = Problem(what, (), _CHANGE, step.override)
        # As for a rule that fails: nothing of the object is delivered.
        return attrs.evolve(result, data=None, problem=problem, steps=())


@attrs.frozen
class InForce:
    """Override rules in force on the members of a subject.

    Attributes:
        numbers: number of the rules, by member; members without any are left out.
        rules: the rules of each number, those of the last update included.
        failing: members on which an override fails, each with its problem.
    """

    numbers: Mapping[str, int] = attrs.field(factory=dict)
    rules: Mapping[int, Objects] = attrs.field(factory=dict)
    failing: Mapping[str, Problem] = attrs.field(factory=dict)

    @property
    def reasons(self) -> dict[str, str]:
        """Reasons of members to keep what they run, in words."""
        return {member: f"an override fails: {problem}" for member, problem in self.failing.items()}


def in_force(
    overrides: Overrides,
    before: Record[Any, Any],
    wanted: Mapping[str, tuple[Cluster, int, Objects]],
    done: Mapping[str, Done],
) -> InForce:
    """Return the rules that are in force on each member.

    Args:
        overrides: the overrides.
        before: the record of the last decision.
        wanted: by member the cluster, the revision that it is to run, and the objects of that
            revision.
        done: what really runs, by member.
    """
    numbers, numbering, failing = dict[str, int](), _Numbering(before), dict[str, Problem]()
    for name, (member, revision, objects) in wanted.items():
        here, asked = done.get(name), overrides.in_force(objects, member)
        # The usual case, which spares most of the work.
        if not asked and (here is None or here.overrides is None):
            continue  # none are in force, and none were
        results = overrides.apply(objects, asked, member)
        problem = next((result.problem for result in results if result.problem), None)
        if problem:
            failing[name] = problem
            continue
        # At another revision the member is updated anyway, and gets the number of today's rules.
        if (
            here
            and here.revision == revision
            and _stays(overrides, before, here, asked, (objects, member, results))
        ):
            number = here.overrides
        else:
            number = numbering.number_of(asked) if asked else None
        if number is not None:
            numbers[name] = number
    return InForce(numbers, numbering.rules, failing)


def rules_in_use(
    before: Record[Any, Any],
    found: InForce,
    placed: Mapping[str, Placed],
    done: Iterable[Done],
    later: Collection[int] = (),
) -> tuple[Mapping[int, Objects], Mapping[int, str]]:
    """Return the rules that are wanted, sent, or that run and may still be held, with their
    digests.

    Args:
        before: the record of the last decision.
        found: the rules that are in force.
        placed: what is sent.
        done: what runs.
        later: numbers of further rules, which are for later updates.
    """
    if before.same(placed) and before.override_digests.keys() >= {*found.numbers.values(), *later}:
        # Otherwise a run without changes would drop some.
        return {
            **before.overrides,
            **_only(before.override_digests, found.rules),
        }, before.override_digests
    sent, runs = (item.overrides for item in placed.values()), (item.overrides for item in done)
    used = {*found.numbers.values(), *sent, *runs, *later}
    digests = {
        **before.override_digests,
        **{number: digest(rules) for number, rules in found.rules.items()},
    }
    return _only(used, found.rules), _only(used, digests)


def _stays(
    overrides: Overrides,
    before: Record[Any, Any],
    here: Done,
    asked: Objects,
    now: tuple[Objects, Cluster, Sequence[Overridden]],
) -> bool:
    """Return whether the rules that are in force on a member make the same objects as those that
    are asked for.
    """
    standing = before.overrides.get(here.overrides) if here.overrides is not None else ()
    if standing is None:
        return False
    objects, member, results = now
    if standing == asked:
        return True
    # The results of now have no problem, so that None, of rules that fail, never equals them.
    stood = overrides.apply(objects, standing, member)
    return _opened(before, stood) == _opened(before, results)


def _opened(before: Record[Any, Any], results: Sequence[Overridden]) -> Objects | None:
    """Return what a member gets; None if a rule fails."""
    failing = any(result.problem for result in results)
    return None if failing else before.opened(overridden(results))


def unseen_default(problem: Problem, manifest: Manifest, *, known: bool) -> Problem:
    """Return the problem of a rule that fails, with a hint where a definition that is not there
    may be the reason.

    Args:
        problem: the problem.
        manifest: the object on which the rule fails.
        known: whether the definition of its kind is known.
    """
    if known or (manifest.group, manifest.kind) in BUILT_IN:
        return problem
    definition = f"the CustomResourceDefinition of {manifest.kind}.{manifest.group}"
    hint = (
        f"add {definition} to the source: the stored object may have the field by a default; or"
        f" {problem.hint}"
    )
    return attrs.evolve(problem, hint=hint)


class _Numbering:
    """Numbers of rules: those of the last update, and new ones.

    Attributes:
        rules: the rules of each number, as far as they are known.
    """

    def __init__(self, before: Record[Any, Any]) -> None:
        self.rules = dict(before.overrides)
        # Where the state hides the rules, their digests have to do.
        hidden = before.override_digests.keys() > self.rules.keys()
        self._text = digest if hidden else canonical
        known = {
            **before.override_digests,
            **{number: self._text(rules) for number, rules in self.rules.items()},
        }
        self._numbers = {text: number for number, text in known.items()}
        # The highest number, not how many there are: rules that are no longer in use leave gaps.
        self._next = max(known, default=-1) + 1

    def number_of(self, rules: Objects) -> int:
        """Return the number of rules; a new one if they have none."""
        number = self._numbers.setdefault(self._text(rules), self._next)
        self._next = max(self._next, number + 1)
        self.rules[number] = rules
        return number


def _only(numbers: Iterable[int | None], kept: Mapping[int, Any]) -> dict[int, Any]:
    wanted = set(numbers)
    return {number: value for number, value in sorted(kept.items()) if number in wanted}
