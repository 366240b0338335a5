"""Refuse policies of kinds that are not carried out, or pass them over if the user asks for
that.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence, Set

import attrs

from fleet_components.admission import KINDS
from fleet_components.model.kinds import BUILT_IN
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message, Phrase, Setting
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few, nearest
from fleet_components.plan.source import CARRIED_OUT, Source
from fleet_components.plan.ways import Ways
from fleet_components.systems.registry import SYSTEMS

_PATH = ("passOver",)
_TAKE_OUT = Phrase("leave it out of {setting}", setting=Setting("passOver"))
_MEMBERS = {system.MEMBER[1] for system in SYSTEMS.values()}
_INSTEAD = {
    "ResourceInterpreterCustomization": (
        "say where the kind has its replicas: spec.workloads of a KarmadaSettings"
    ),
}
_KNOWN = {kind for _, kind in KINDS}.union(_INSTEAD).difference(CARRIED_OUT, _MEMBERS)
# Kinds of objects to be placed: those of the two systems steer a hub.
_BUILT_IN = {
    kind for group, kind in BUILT_IN if not group.endswith((".kubernetes-fleet.io", ".karmada.io"))
}


def passed_over(source: Source, kinds: Collection[str]) -> Iterator[Problem]:
    """Yield a warning for each kind that is passed over, and for each given kind of which there is
    no object.

    Args:
        source: the parsed fleet.
        kinds: the kinds to be passed over.
    """
    for kind in sorted(kinds):
        found = [manifest for manifest in source.not_carried_out if manifest.kind == kind]
        if found:
            yield _passed_over(kind, found)
        else:
            meant = "" if kind in _KNOWN else nearest(kind, _KNOWN)
            yield Problem(
                Message("no-such-kind-to-pass-over", "there is no {kind}", kind=kind),
                _PATH,
                f"did you mean {meant}?" if meant else _TAKE_OUT,
            )


def not_passed_over(source: Source, kinds: Set[str]) -> Iterator[Problem]:
    """Yield problems that prevent a plan: policies that are neither carried out nor passed over,
    and wrong kinds.

    A kind that is carried out must not be passed over: that would delete what its policies have
    placed.

    Args:
        source: the parsed fleet.
        kinds: the kinds to be passed over.
    """
    left = [manifest for manifest in source.not_carried_out if manifest.kind not in kinds]
    yield from map(_refused, left)
    passed = {manifest.kind for manifest in source.not_carried_out}.intersection(kinds)
    objects = _BUILT_IN.union(manifest.kind for manifest in source.catalogue.manifests)
    for kind in sorted(kinds - passed):
        if kind in CARRIED_OUT or kind in _MEMBERS:
            what = Message(
                "carried-out-passed-over",
                "{kind} is carried out: passed over, it would take along what it has placed",
                kind=kind,
            )
            yield Problem(what, _PATH, _TAKE_OUT)
        elif kind in objects:
            yield Problem(
                Message(
                    "steers-no-hub-what",
                    "{kind} steers no hub: what nothing selects is not placed",
                    kind=kind,
                ),
                _PATH,
                _TAKE_OUT,
            )
        elif meant := nearest(kind, {manifest.kind for manifest in left}):
            yield Problem(
                Message("no-such-kind-to-pass-over", "there is no {kind}", kind=kind),
                _PATH,
                f"did you mean {meant}?",
            )


def passed_to(source: Source, ways: Ways) -> tuple[Source, tuple[Problem, ...]]:
    """Return a source as its hub takes it: without the policies that only that carries out, which a
    warning names.
    """
    if ways.whole:
        source = SYSTEMS[ways.hub].on_its_hub(source)
    groups = SYSTEMS[ways.hub].GROUPS if ways.hub else ()
    found = [manifest for manifest in source.not_carried_out if manifest.group in groups]
    if not found:
        return source, ()
    kinds = sorted(Counter(manifest.kind for manifest in found).items())
    what = Message(
        "passed-hub-no-part",
        "passed on to the hub, and no part of the forecast: {kinds}",
        # A kind has no plural.
        kinds=few([count(n, kind, kind) for kind, n in kinds]),
    )
    left = tuple(manifest for manifest in source.not_carried_out if manifest.group not in groups)
    warning = attrs.evolve(
        found[0].problem(what, (), "the hub may decide otherwise where they have a say"), subject=""
    )
    return attrs.evolve(source, not_carried_out=left), (warning,)


def _passed_over(kind: str, found: Sequence[Manifest]) -> Problem:
    what = Message(
        "passed-over",
        "passed over: {count}, as {setting} says",
        setting=Setting("passOver"),
        count=count(len(found), kind),
    )
    hint = few([manifest.name for manifest in found])
    return attrs.evolve(found[0].problem(what, (), hint), subject="")


def _refused(policy: Manifest) -> Problem:
    instead = _INSTEAD.get(policy.kind, "")
    hint = Phrase(
        "{instead}if members should run without it: {setting} {kind}",
        instead=f"{instead}; " if instead else "",
        setting=Setting("passOver"),
        kind=policy.kind,
    )
    return policy.problem(
        Message(
            "not-carried-out-version", "{kind} is not carried out by this version", kind=policy.kind
        ),
        ("kind",),
        hint,
    )
