"""Runs one object through all stages of admission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from typing import Any

import attrs

from fleet_components.admission.decode import rewritten, too_great, undecodable
from fleet_components.admission.finding import Finding, Stage
from fleet_components.admission.hint import as_meant
from fleet_components.admission.registry import AdmissionRequest, AdmittedKind, Existing
from fleet_components.admission.structure import (
    check,
    check_metadata,
    filled,
    unknown_fields,
    unknown_paths,
)
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.releases import Releases
from fleet_components.model.text import nearest
from fleet_components.systems.registry import SYSTEMS

_STAGES: tuple[Stage, ...] = ("kind", "strict", "decode", "crd", "webhook")


@attrs.frozen
class Refusal:
    """One reason why a hub would refuse an object.

    Attributes:
        problem: the error, in the words of the real system as far as they concern this field, with
            our hint.
        stage: what refuses the object: ``kind``, ``strict`` (kubectl's strict mode; a hub by itself
            drops unknown fields), ``decode`` (a mutating webhook), ``crd`` or ``webhook``.
        text: the complete text of the real system. All refusals of one webhook carry the same text.
        follows: whether it is only a consequence: of a misspelt field, and would vanish with the
            intended name, or of an object where a list is expected.
    """

    problem: Problem
    stage: Stage
    text: str
    follows: bool = False


@attrs.frozen
class Admission:
    """Result of the admission of an object.

    Attributes:
        defaulted: the object as a hub would store it; meaningful only without refusals.
        refusals: why a hub would refuse it, in the order of the stages.
    """

    defaulted: Manifest
    refusals: tuple[Refusal, ...] = ()

    @property
    def problems(self) -> tuple[Problem, ...]:
        """Problems for the user to fix, by line, for a
        :class:`~fleet_components.model.problem.FleetError`.

        Refusals that only follow from a misspelt field are left out.
        """
        problems = (refusal.problem for refusal in self.refusals if not refusal.follows)
        return tuple(sorted(problems, key=lambda problem: problem.line or 0))


def admit(
    manifest: Manifest, *, old: Manifest | None = None, context: Existing = Existing()
) -> Admission:
    """Default and check an object as a hub does; objects of other systems pass unchanged.

    Args:
        manifest: the object.
        old: the object that it replaces; None if it is new.
        context: the other existing objects, in which overrides, placements and
            CustomResourceDefinitions are looked up, and the releases. It may contain the object
            itself.
    """
    unknown = unknown_kind(manifest)
    if unknown:
        return Admission(manifest, _refusals(manifest, [unknown]))
    kind = kinds_under(context.releases).get((manifest.api_version, manifest.kind))
    if not kind:
        return Admission(manifest)
    strict = _refusals(manifest, _unknown_fields(kind, manifest.data, context.releases))
    data, refusals = _judged(kind, manifest, old, context)
    if strict and refusals:
        # Judged again with the field names that were meant, to see which refusals only follow.
        meant = attrs.evolve(manifest, data=as_meant(kind.schema, manifest.data))
        refusals = _marked(refusals, _judged(kind, meant, old, context)[1])
    return Admission(attrs.evolve(manifest, data=data), strict + refusals)


def misnamed(manifest: Manifest) -> tuple[Problem, ...]:
    """Return the problem of an object meant to be of a checked kind but with a wrong group, version
    or kind.
    """
    unknown = unknown_kind(manifest, anywhere=True)
    return tuple(refusal.problem for refusal in _refusals(manifest, [unknown])) if unknown else ()


def _judged(
    kind: AdmittedKind, manifest: Manifest, old: Manifest | None, context: Existing
) -> tuple[dict[str, Any], tuple[Refusal, ...]]:
    """Return the object as a hub would store it, without unknown fields, and the refusals."""
    data, undecoded = _prepared(kind, manifest.data)
    before = _prepared(kind, old.data)[0] if old else None
    refusals = _refusals(manifest, undecoded or _checked(kind, data, before))
    if (
        # As on a hub, the validating webhook sees only what the definition has let pass.
        not refusals
        and kind.validate
        and (denial := kind.validate(AdmissionRequest(data, before, context)))
    ):
        refusals = _refusals(manifest, denial.findings, denial.text)
    return data, refusals


def _marked(refusals: Iterable[Refusal], of_the_meant: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Mark the refusals that vanish when the object has the intended field names and comes at least
    as far.
    """
    # Texts may show the whole object and then differ, so refusals are compared by field and hint.
    remain = {(it.problem.path, it.problem.hint): it.stage for it in of_the_meant}
    # Without refusals, the intended object passes all stages.
    reached = min(map(_STAGES.index, remain.values()), default=len(_STAGES))
    return tuple(
        attrs.evolve(
            it,
            follows=(it.problem.path, it.problem.hint) not in remain
            and _STAGES.index(it.stage) <= reached,
        )
        for it in refusals
    )


def _unknown_fields(
    kind: AdmittedKind, data: Mapping[str, Any], releases: Releases
) -> Iterator[Finding]:
    """Yield the unknown fields, with a hint if another version of the kind has the field."""
    findings = unknown_fields(kind.schema, data)
    others = (
        [(other, unknown_paths(other.schema, data)) for other in versions_of(kind, releases)]
        if findings
        else []
    )
    for finding in findings:
        # The last version that has the field counts: the storage version, if it has it.
        for other, unknown in others:
            if finding.path not in unknown:
                finding = attrs.evolve(
                    finding, hint=f"write apiVersion: {other.api_version}, which has it"
                )
        yield finding


def _prepared(kind: AdmittedKind, raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the object as it reaches the checks, and what a mutating webhook could not decode."""
    data: dict[str, Any] = filled(kind.schema, raw)
    if not kind.mutate:
        return data, []
    wrong = undecodable(kind.schema, data)
    if wrong:
        return data, wrong
    # Filled again at the end: decoding has dropped zero values, which get their defaults.
    data = rewritten(kind.schema, data)
    kind.mutate(data)
    return filled(kind.schema, data), []


def _checked(
    kind: AdmittedKind, data: dict[str, Any], before: Mapping[str, Any] | None
) -> list[Finding]:
    """Return the findings of the API server, or else the numbers that a webhook or controller
    cannot decode.
    """
    # The API server comes first: what only Go cannot hold matters once it accepts the rest.
    findings = check(kind.schema, data, before)
    # The checks of metadata need one in which every value has the right type.
    if all(finding.path[:1] != ("metadata",) for finding in findings):
        findings += check_metadata(data.get("metadata", {}))
    return findings or too_great(kind.schema, data)


def _refusals(
    manifest: Manifest, findings: Iterable[Finding], text: str = ""
) -> tuple[Refusal, ...]:
    return tuple(
        Refusal(
            _problem(manifest, it), it.stage, text or it.text, it.stage == "strict" and it.follows
        )
        for it in findings
    )


def _problem(manifest: Manifest, finding: Finding) -> Problem:
    return attrs.evolve(
        manifest.problem(finding.message(), finding.path, finding.hint), follows=finding.follows
    )


# Kinds that are checked, kinds that are known but not checked, and guesses at what an unknown
# kind was meant to be.


@cache
def kinds_under(releases: Releases) -> Mapping[tuple[str, str], AdmittedKind]:
    """Return the checked kinds of both systems, by ``apiVersion`` and ``kind``."""
    every = (kind for system in SYSTEMS.values() for kind in system.kinds(releases))
    return {(kind.api_version, kind.name): kind for kind in every}


KINDS = kinds_under(Releases())
"""Checked kinds, by ``apiVersion`` and ``kind``. All releases have the same ones."""
_ALL = tuple(KINDS.values())

_MADE_BY_SYSTEM: Mapping[str, tuple[str, ...]] = {
    group: kinds for system in SYSTEMS.values() for group, kinds in system.made_kinds.items()
}
_GROUPS = tuple(dict.fromkeys(kind.group for kind in _ALL))
_NAMES = tuple(dict.fromkeys(kind.name for kind in _ALL))
_FAMILIES = (".kubernetes-fleet.io", ".karmada.io")
"""Suffixes of the groups of both systems; some of these groups hold kinds that are not checked."""
_COMMON = ("ApprovalRequest", "Cluster")
"""Kinds that other systems have under the same name."""
_NEAR_GROUP, _NEAR_KIND = 0.85, 0.9


def versions_of(kind: AdmittedKind, releases: Releases) -> tuple[AdmittedKind, ...]:
    """Return the kind in all its versions; the last one is the storage version."""
    return tuple(
        other
        for other in kinds_under(releases).values()
        if (other.group, other.name) == (kind.group, kind.name)
    )


def unknown_kind(manifest: Manifest, *, anywhere: bool = False) -> Finding | None:
    """Return the refusal of a kind that does not exist, if it belongs to our groups or was probably
    meant to be ours.

    Args:
        manifest: the object.
        anywhere: also consider objects of groups that are neither ours nor similar; kinds that
            other systems have under the same name are ignored there.
    """
    group, kind = manifest.group, manifest.kind
    if (manifest.api_version, kind) in KINDS or kind in _MADE_BY_SYSTEM.get(group, ()):
        return None
    meant = _meant(group, kind) if anywhere or _is_ours(group) else ""
    return _no_match(manifest, meant) if meant or group in _GROUPS else None


@lru_cache(maxsize=4096)
def _meant(group: str, kind: str) -> str:
    """Return the kind of ours that was probably meant; empty if there is none."""
    if group in _GROUPS:
        exact = kind if kind in _NAMES and kind not in _COMMON else ""
        return exact or nearest(kind, _names_in(group)) or nearest(kind, _NAMES, _NEAR_KIND)
    names = _NAMES if _is_ours(group) else [name for name in _NAMES if name not in _COMMON]
    return nearest(kind, names, _NEAR_KIND)


@lru_cache(maxsize=4096)
def _is_ours(group: str) -> bool:
    """Return whether a group is one of ours, missing, or misspelt."""
    return not group or group.endswith(_FAMILIES) or bool(nearest(group, _GROUPS, _NEAR_GROUP))


def _names_in(group: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(kind.name for kind in _ALL if kind.group == group))


def _no_match(manifest: Manifest, meant: str) -> Finding:
    what = f'no matches for kind "{manifest.kind}" in version "{manifest.api_version}"'
    if not meant:
        names = _names_in(manifest.group)
        like = [name for name in names if manifest.kind.casefold() in name.casefold()]
        return Finding(what, ("kind",), f"write one of {', '.join(like or names)}", "kind")
    known = [kind for kind in _ALL if kind.name == meant]
    if manifest.api_version in [kind.api_version for kind in known]:
        return Finding(what, ("kind",), f"write kind: {meant}", "kind")
    do = f"write apiVersion: {_best(known, manifest)}" + (
        f" and kind: {meant}" if meant != manifest.kind else ""
    )
    return Finding(what, ("apiVersion",), do, "kind")


def _best(versions: Sequence[AdmittedKind], manifest: Manifest) -> str:
    """Return the ``apiVersion`` to suggest: one that has all fields of the object, or else the
    storage version.

    The version of the object is preferred, then v1.
    """
    whole = [kind for kind in versions if not unknown_paths(kind.schema, manifest.data)]
    wanted = [
        kind for version in ("v1", manifest.version) for kind in whole if kind.version == version
    ]
    # The last one: the version of the object, else v1, else the storage version.
    return (wanted or versions)[-1].api_version
