"""Warn of rules of overrides that have no effect, with the reason.

A part of an override has no effect if every member gets the same without it: each is left out in
turn. So a rule that another one undoes is found whatever the two are, and nothing is reported that
makes a difference to a member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.content.difference import differences
from fleet_components.content.overridden import Object, Overridden, Step
from fleet_components.content.override_parts import Part
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.model.text import few
from fleet_components.plan.trial import Trial, Tried, Unchanged, without_effect

_FIELDS_SHOWN = 3
_TWICE = Unchanged("another operation of the rule overwrites what it sets, or sets the same", "take one of them out")
_BEFORE = Unchanged("is not reached: what comes before it deletes the object, or changes what it is selected by")
_TAKE_OUT = "take it out, or the other one"


@attrs.frozen
class Idle:
    """The overrides of one system, to find those parts of them that have no effect.

    Attributes:
        rules: the rules of each override, by ``Kind namespace/name``.
        overrides: the overrides, by the same name.
        trials: the subjects that overrides may reach.
        inventory: the members that are scheduled on.
    """

    rules: Mapping[str, Sequence[Part]]
    overrides: Mapping[str, Manifest]
    trials: Sequence[Trial]
    inventory: Inventory

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each part without an effect; one for a rule as a whole if all its
        parts have the same reason.
        """
        every = [part for rules in self.rules.values() for rule in rules for part in rule.all]
        found = without_effect(every, self.trials)
        for override, rules in self.rules.items():
            for part, why in (one for rule in rules for one in self._told(rule, found)):
                path = part.path if found[part] else part.rule_path
                yield self.overrides[override].problem(why.what, path, why.hint)

    def _told(self, part: Part, found: Mapping[Part, Tried | None]) -> list[tuple[Part, Unchanged]]:
        """Return the largest parts without an effect, or their parts where these tell more."""
        below = [one for each in part.parts for one in self._told(each, found)]
        if part not in found:
            return below
        if part.parts and all(one in found for one in part.parts):
            reasons = {why for _, why in below}
            return [(part, *reasons)] if len(reasons) == 1 else below
        tried = found[part]
        why = self._of_others(part) if tried is None else self._why(part, tried)
        return [(part, why)] if why else []

    def _why(self, part: Part, tried: Tried) -> Unchanged:
        """Return why a part makes no difference where it was tried."""
        with_it, without = tried.results(), tried.results([part])
        own = [_step_of(result, part) for result in with_it]
        undone = (
            self._undone(tried.trial, step, result, other)
            for step, result, other in zip(own, with_it, without, strict=True)
            if step
        )
        if why := next(filter(None, undone), None):
            return why
        step = next(filter(None, own), None)
        if step is None:
            return _BEFORE
        return tried.trial.unchanged(part, step.before) if self._alone(part, tried) else _TWICE

    def _undone(self, trial: Trial, own: Step, result: Overridden, other: Overridden) -> Unchanged | None:
        """Return what undoes a change of an object; None if a part does not change it.

        Args:
            trial: the subject.
            own: the rule with the part.
            result: what all rules make of the object.
            other: the same without the part.
        """
        without = {(step.override, step.rule): step.data for step in other.steps}
        before = without.get((own.override, own.rule), own.before)
        if trial.alike_objects(own.data, before):
            return None
        fields = _fields(before, own.data)
        for step in result.steps[result.steps.index(own) + 1 :]:
            key = step.override, step.rule
            if key in without and trial.alike_objects(step.data, without[key]):
                return Unchanged(self._overwritten(fields, own, step), _TAKE_OUT)
        return Unchanged(f"members do not get what it sets{_shown(fields)}", "take it out")

    def _overwritten(self, fields: Sequence[FieldPath], own: Step, later: Step) -> str:
        rule = next(one for one in self.rules[later.override] if one.rule == later.rule)
        origin = self.overrides[later.override].origin
        place = attrs.evolve(origin, line=origin.locate(rule.rule_path)).location if origin else ""
        by = ", ".join(filter(None, [later.override, f"rule [{later.rule}]", place]))
        if later.data is None:
            return f"has no effect: the object is deleted by {by}"
        again = all(value_at(later.data, path) == value_at(own.data, path) for path in fields)
        return f"what it sets{_shown(fields)} is {'set again' if again else 'overwritten'} by {by}"

    def _alone(self, part: Part, tried: Tried) -> bool:
        """Return whether a part changes nothing where the rest of its rule is left out."""
        mine = set(part.all)
        rule = next(one for one in self.rules[part.override] if one.rule == part.rule)
        others = [one for one in rule.all if not one.parts and one not in mine]
        steps = [_step_of(result, part) for result in tried.results(others)] if others else []
        return all(tried.trial.alike_objects(step.before, step.data) for step in steps if step)

    def _of_others(self, part: Part) -> Unchanged | None:
        """Return that a rule is for members that the objects do not go to; None if it selects none."""
        reaching = [trial for trial in self.trials if part.override in trial.reached]
        names = {
            member.name
            for trial in reaching
            for member in self.inventory.clusters
            if trial.applies(part.override, part.rule, member)
        }
        if not names:
            return None
        objects = few([str(trial.reached[part.override].key) for trial in reaching], _FIELDS_SHOWN)
        what = f"has no effect: it is for {few(sorted(names))} alone, and {objects} does not go there"
        return Unchanged(what, "place it there, or take the rule out")


def _step_of(result: Overridden, part: Part) -> Step | None:
    return next((step for step in result.steps if (step.override, step.rule) == (part.override, part.rule)), None)


def _fields(before: Object | None, after: Object | None) -> list[FieldPath]:
    """Return the fields that differ; of several those that have a value afterwards."""
    found = [one for one in differences(before or {}, after or {}) if after is not None]
    return [one.path for one in found if one.new is not None] or [one.path for one in found]


def _shown(fields: Sequence[FieldPath]) -> str:
    return f" ({few([show_path(path) for path in fields], _FIELDS_SHOWN)})" if fields else ""
