"""Ways of delivery: which placements and policies go to their members directly, and which through a
hub.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.message import Message
from fleet_components.model.problem import FieldPath, Problem
from fleet_components.model.text import count
from fleet_components.systems.registry import SYSTEMS

ANNOTATION = "fleet-components/delivery"
"""Annotation of a placement or a propagation policy: the way of its objects, in place of that of
the stack.
"""
_PATH: FieldPath = ("metadata", "annotations", ANNOTATION)


class Way(StrEnum):
    """Way of objects to members: written there by the stack, or by the hub of one of the two
    systems.
    """

    DIRECT = "direct"
    KUBEFLEET = "kubefleet"
    KARMADA = "karmada"


A_WAY = f"the ways are: {', '.join(Way)}"
STEERING: Mapping[str, str] = {
    kind: system.NAME for system in SYSTEMS.values() for kind in system.STEERING
}
"""The system whose hub carries out each kind whose objects go some way."""
NAMES: Mapping[str, str] = {"": "", **{name: system.TITLE for name, system in SYSTEMS.items()}}
"""Name of each system by its way."""


def no_way(text: str) -> Message | None:
    """Return why a text is no way of delivery; None if it is one."""
    return None if text in tuple(Way) else Message("not-way", 'is "{value}"', value=text)


def asked_way(policy: Manifest) -> str:
    """Return the way that the annotation of a policy asks for; empty if it asks for none."""
    annotations = policy.metadata.get("annotations")
    return str(annotations.get(ANNOTATION) or "") if isinstance(annotations, Mapping) else ""


def is_for_hub(policy: Manifest, default: bool) -> bool:
    """Return whether a hub carries a policy out: as its annotation says, or by default."""
    asked = asked_way(policy)
    return asked != Way.DIRECT if asked else default


@attrs.frozen
class Ways:
    """The ways of a fleet.

    Attributes:
        default: the way of what asks for none.
        hub: the system of the hub; empty if nothing goes through one.
        asked: the way of each placement and propagation policy, by kind, namespace and name.
    """

    default: str = Way.DIRECT
    hub: str = ""
    asked: Mapping[tuple[str, str, str], str] = attrs.field(factory=dict)

    @property
    def whole(self) -> bool:
        """True if everything goes through the hub."""
        return bool(self.hub) and all(
            way == self.hub for way in (self.default, *self.asked.values())
        )

    def held(self, before: Mapping[tuple[str, str, str], str]) -> Ways:
        """Return the ways of an update that prepares a move: what has gone some way before stays on
        it.

        Args:
            before: the former ways, by kind, namespace and name of the placement or policy.
        """
        asked = {policy: before.get(policy, way) for policy, way in self.asked.items()}
        return Ways(
            # A fleet has one hub, so that any of them names it.
            self.default,
            next((way for way in asked.values() if way != Way.DIRECT), ""),
            asked,
        )

    def placement(self, kind: str, key: str) -> str:
        """Return the hub of a placement, given by its kind and key; empty if it is delivered
        directly.
        """
        namespace, _, name = key.rpartition("/")
        return self._hub(self.asked.get((kind, namespace, name), self.default))

    def template(
        self, policy: ObjectKey | None, others: Iterable[str], before: Mapping[str, Any]
    ) -> str:
        """Return the hub of a template; empty if it is delivered directly.

        Args:
            policy: the policy that has claimed it; None of one that goes along with others.
            others: the hubs of those that it goes along with.
            before: what was recorded of it last.
        """
        if policy is not None and (
            way := self.asked.get((policy.kind, policy.namespace, policy.name))
        ):
            return self._hub(way)
        along = list(others)
        # What goes along with others, a ConfigMap of a workload for example, goes their way.
        if policy is None and along:
            return next(filter(None, along), "")
        # A policy that is gone leaves what it has placed where it is.
        return (
            self._hub(str(before.get("delivery") or self.default))
            if before
            else self._hub(self.default)
        )

    def _hub(self, way: str) -> str:
        return "" if way == Way.DIRECT else way


def ways_of(policies: Iterable[Manifest], default: str) -> tuple[Ways, list[Problem]]:
    """Return the ways of a fleet's placements and policies, and the problems of those that
    contradict.

    Args:
        policies: everything that steers a hub.
        default: the way of the stack.
    """
    problems: list[Problem] = []
    asked: dict[tuple[str, str, str], str] = {}
    first: dict[str, Manifest] = {}
    otherwise: list[Manifest] = []
    for policy in policies:
        wanted, own = asked_way(policy), STEERING.get(policy.kind)
        # The kind steers nothing: an override, for example.
        if own is None:
            if wanted:
                problems.append(policy.problem(_NOT_ITS_OWN, _PATH, _OWN_HINT))
            continue
        way = wanted or default
        asked[policy.kind, policy.namespace, policy.name] = way
        wrong = no_way(way) if wanted else None
        if wrong:
            problems.append(policy.problem(wrong, _PATH, A_WAY))
        elif way not in (Way.DIRECT, own):
            if wanted:
                what = Message(
                    "cannot-go-through-hub",
                    "is {of}, and cannot go through a hub of {names}",
                    of=_of(own),
                    names=NAMES[way],
                )
                problems.append(policy.problem(what, _PATH, f"write {own} or direct"))
            # One problem for all of them: they ask for nothing, and the way of the stack does
            # not fit.
            else:
                otherwise.append(policy)
        elif way != Way.DIRECT:
            first.setdefault(way, policy)
    if otherwise:
        more = f"; so {_are(len(otherwise) - 1)}" if otherwise[1:] else ""
        what = Message(
            "fleet-goes-through-hub",
            "is {of}, and this fleet goes through a hub of {names}{more}",
            of=_of(STEERING[otherwise[0].kind]),
            names=NAMES[default],
            more=more,
        )
        hint = f"annotate it with {ANNOTATION}: direct, or take it out"
        problems.append(otherwise[0].problem(what, ("kind",), hint))
    hubs = sorted({*first, *([default] if default != Way.DIRECT else [])})
    if len(hubs) > 1:
        what = Message(
            "several-hubs-in-fleet",
            "would go through a hub of {names}, and others of this fleet through one of {others}",
            names=NAMES[hubs[1]],
            others=NAMES[hubs[0]],
        )
        # At most one of the two is the default alone, without a policy.
        where = first.get(hubs[1]) or first[hubs[0]]
        problems.append(where.problem(what, _PATH, "a fleet has one hub: make two fleets of it"))
    return Ways(default, hubs[0] if hubs else "", asked), problems


_NOT_ITS_OWN = Message(
    "no-effect-only-placements",
    "has no effect: only placements and propagation policies go a way of their own",
)
_OWN_HINT = "write it on the placement or the propagation policy"


def _of(way: str) -> str:
    return f"a policy of {NAMES[way]}"


def _are(number: int) -> str:
    return f"{'is' if number == 1 else 'are'} {count(number, 'other')}"
