"""Warn of rules of overrides that have no effect, with the reason.

A part of an override has no effect if every member gets the same without it: each is left out in
turn. So a rule that another one undoes is found whatever the two are, and nothing is reported that
makes a difference to a member.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import attrs

from fleet_components.content.difference import differences
from fleet_components.content.overridden import AppliedRule, Object, Overridden
from fleet_components.content.override_parts import Part
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, value_at
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem, show_path
from fleet_components.model.text import count, few
from fleet_components.plan.trial import OverrideTrial, Tried, Unchanged, without_effect

_FIELDS_SHOWN = 3
_TOO_MANY = "there are too many to try each; this is the first of them"
_TWICE = Unchanged(
    Message(
        "another-operation-rule-overwrites",
        "another operation of the rule overwrites what it sets, or sets the same",
    ),
    "take one of them out",
)
_BEFORE = Unchanged(
    Message(
        "not-reached-what-comes",
        "is not reached: what comes before it deletes the object, or changes what it is"
        " selected by",
    )
)
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
    trials: Sequence[OverrideTrial]
    inventory: Inventory

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each part without an effect; one for a rule as a whole if all its
        parts have the same reason.
        """
        every = [
            part
            for rules in self.rules.values()
            for rule in rules
            if rule.written
            for part in rule.all
        ]
        found, untried = without_effect(every, self.trials)
        if untried:
            number = len({(part.override, part.rule) for part in untried})
            first = min(untried, key=lambda part: (part.override, part.rule))
            have = "has" if number == 1 else "have"
            what = Message(
                "not-known-whether-overrides",
                "it is not known whether {count} of overrides {have} an effect",
                count=count(number, "rule"),
                have=have,
            )
            yield self.overrides[first.override].problem(what, first.rule_path, _TOO_MANY)
        for override, rules in self.rules.items():
            for part, why in [pair for rule in rules for pair in self._reported(rule, found)]:
                # A part that was tried nowhere is reported at its rule.
                path = part.path if found[part] else part.rule_path
                yield self.overrides[override].problem(why.message, path, why.hint)

    def _reported(
        self, part: Part, found: Mapping[Part, Tried | None]
    ) -> list[tuple[Part, Unchanged]]:
        """Return the largest parts without an effect, or their parts where these tell more."""
        below = [pair for each in part.parts for pair in self._reported(each, found)]
        if part not in found:
            return below
        # One reason for all parts is that of the whole; several tell more, each at its part.
        reasons = {why.by or why for _, why in below}
        if len(reasons) != 1 and part.parts and all(item in found for item in part.parts):
            return below
        tried = found[part]
        why = self._of_others(part) if tried is None else self._why(part, tried)
        return [(part, why)] if why else []

    def _why(self, part: Part, tried: Tried) -> Unchanged:
        """Return why a part makes no difference where it was tried."""
        with_it, without = tried.results(), tried.results([part])
        own = [_step_of(result, part) for result in with_it]
        touched = [
            (step, self._undone(tried.trial, step, result, other), result)
            for step, result, other in zip(own, with_it, without, strict=True)
            if step
        ]
        if not touched:
            return _BEFORE
        why = next((undone for _, undone, _ in touched if undone), None)
        if why:
            return why
        step, _, result = touched[0]
        # It would change something without the rest of its rule, which therefore hides it.
        if not self._alone(part, tried):
            return _TWICE
        return self._as_before(part, tried, result) or tried.trial.unchanged(part, step.before)

    def _as_before(self, part: Part, tried: Tried, result: Overridden) -> Unchanged | None:
        """Return the rule without which a part would change an object; None if there is none."""
        for step in result.steps:
            # Only a rule before the part can have done the same already.
            if (step.override, step.rule) == (part.override, part.rule):
                return None
            if step.before == step.data:
                continue
            others = (
                _step_of(overridden, part) for overridden in tried.results([self._rule(step)])
            )
            if any(
                other and not tried.trial.alike_objects(other.before, other.data)
                for other in others
            ):
                return Unchanged(
                    Message(
                        "changes-nothing-does-same",
                        "changes nothing: {named} does the same before",
                        named=self._named(step),
                    ),
                    _TAKE_OUT,
                )
        return None

    def _undone(
        self, trial: OverrideTrial, own: AppliedRule, result: Overridden, other: Overridden
    ) -> Unchanged | None:
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
        # What the part itself changes, without what its rule does besides.
        fields = _fields(before, own.data)
        for step in result.steps[result.steps.index(own) + 1 :]:
            key = step.override, step.rule
            if key in without and trial.alike_objects(step.data, without[key]):
                return self._overwritten(fields, own, step)
        return Unchanged(
            Message(
                "members-do-not-get", "members do not get what it sets{shown}", shown=_shown(fields)
            ),
            "take it out",
        )

    def _overwritten(
        self, fields: Sequence[FieldPath], own: AppliedRule, later: AppliedRule
    ) -> Unchanged:
        by = self._named(later)
        if later.data is None:
            return Unchanged(
                Message(
                    "no-effect-object-deleted",
                    "has no effect: the object is deleted by {by}",
                    by=by,
                ),
                "take it out",
                by,
            )
        again = all(value_at(later.data, path) == value_at(own.data, path) for path in fields)
        what = Message(
            "override-undone",
            "what it sets{shown} is {how} by {by}",
            shown=_shown(fields),
            how="set again" if again else "overwritten",
            by=by,
        )
        return Unchanged(what, _TAKE_OUT, by)

    def _alone(self, part: Part, tried: Tried) -> bool:
        """Return whether a part changes nothing where the rest of its rule is left out."""
        mine = set(part.all)
        # Leaves alone: whatever has parts goes with them.
        others = [item for item in self._rule(part).all if not item.parts and item not in mine]
        steps = [_step_of(result, part) for result in tried.results(others)] if others else []
        return all(tried.trial.alike_objects(step.before, step.data) for step in steps if step)

    def _rule(self, of: Part | AppliedRule) -> Part:
        # Parts and steps come from these rules, so that there is one.
        return next(rule for rule in self.rules[of.override] if rule.rule == of.rule)

    def _named(self, step: AppliedRule) -> str:
        """Return a rule as ``Kind namespace/name, rule [0], file:line``."""
        origin = self.overrides[step.override].origin
        place = (
            attrs.evolve(origin, line=origin.locate(self._rule(step).rule_path)).location
            if origin
            else ""
        )
        return ", ".join(filter(None, [step.override, f"rule [{step.rule}]", place]))

    def _of_others(self, part: Part) -> Unchanged | None:
        """Return that a rule is for members that the objects do not go to; None if it selects
        none, or if they go nowhere: their policies have a warning for that.
        """
        reaching = [trial for trial in self.trials if part.override in trial.reached]
        names = {
            member.name
            for trial in reaching
            for member in self.inventory.clusters
            if trial.applies(part.override, part.rule, member)
        }
        if not names or not all(trial.is_placed for trial in reaching):
            return None
        objects = few([str(trial.reached[part.override].key) for trial in reaching], _FIELDS_SHOWN)
        what = Message(
            "no-effect-alone-does",
            "has no effect: it is for {names} alone, and {objects} does not go there",
            names=few(sorted(names)),
            objects=objects,
        )
        return Unchanged(what, "place it there, or take the rule out")


def _step_of(result: Overridden, part: Part) -> AppliedRule | None:
    return next(
        (step for step in result.steps if (step.override, step.rule) == (part.override, part.rule)),
        None,
    )


def _fields(before: Object | None, after: Object | None) -> list[FieldPath]:
    """Return the fields that differ; of several those that have a value afterwards."""
    found = [
        difference for difference in differences(before or {}, after or {}) if after is not None
    ]
    return [difference.path for difference in found if difference.new is not None] or [
        difference.path for difference in found
    ]


def _shown(fields: Sequence[FieldPath]) -> str:
    return f" ({few([show_path(path) for path in fields], _FIELDS_SHOWN)})" if fields else ""
