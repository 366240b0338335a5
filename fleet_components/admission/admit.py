"""Runs one object through all stages of admission."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.admission.decode import rewritten, too_great, undecodable
from fleet_components.admission.finding import Finding, Stage
from fleet_components.admission.hint import as_meant
from fleet_components.admission.kinds import kinds_under, unknown_kind, versions_of
from fleet_components.admission.metadata import check_metadata
from fleet_components.admission.registry import Existing, Kind, Request
from fleet_components.admission.structure import check, filled, unknown_fields, unknown_paths
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import Problem
from fleet_components.model.releases import Releases

_STAGES: tuple[Stage, ...] = ("kind", "strict", "decode", "crd", "webhook")


@attrs.frozen
class Refusal:
    """One reason why a hub would refuse an object.

    Attributes:
        problem: the error, in the words of the real system as far as they concern this field, with our hint.
        stage: what refuses the object: ``kind``, ``strict`` (kubectl's strict mode; a hub by itself drops unknown
            fields), ``decode`` (a mutating webhook), ``crd`` or ``webhook``.
        text: the complete text of the real system. All refusals of one webhook carry the same text.
        follows: whether it is only a consequence: of a misspelt field, and would vanish with the intended name, or of
            an object where a list is expected.
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
        """Problems for the user to fix, by line, for a :class:`~fleet_components.model.problem.FleetError`.

        Refusals that only follow from a misspelt field are left out.
        """
        problems = (refusal.problem for refusal in self.refusals if not refusal.follows)
        return tuple(sorted(problems, key=lambda problem: problem.line or 0))


def admit(manifest: Manifest, *, old: Manifest | None = None, context: Existing = Existing()) -> Admission:
    """Default and check an object as a hub does; objects of other systems pass unchanged.

    Args:
        manifest: the object.
        old: the object that it replaces; None if it is new.
        context: the other existing objects, in which overrides, placements and CustomResourceDefinitions are looked
            up, and the releases. It may contain the object itself.
    """
    if unknown := unknown_kind(manifest):
        return Admission(manifest, _refusals(manifest, [unknown]))
    kind = kinds_under(context.releases).get((manifest.api_version, manifest.kind))
    if not kind:
        return Admission(manifest)
    strict = _refusals(manifest, _unknown_fields(kind, manifest.data, context.releases))
    data, refusals = _judged(kind, manifest, old, context)
    if strict and refusals:
        meant = attrs.evolve(manifest, data=as_meant(kind.schema, manifest.data))
        refusals = _marked(refusals, _judged(kind, meant, old, context)[1])
    return Admission(attrs.evolve(manifest, data=data), strict + refusals)


def misnamed(manifest: Manifest) -> tuple[Problem, ...]:
    """Return the problem of an object meant to be of a checked kind but with a wrong group, version or kind."""
    unknown = unknown_kind(manifest, anywhere=True)
    return tuple(refusal.problem for refusal in _refusals(manifest, [unknown])) if unknown else ()


def _judged(
    kind: Kind, manifest: Manifest, old: Manifest | None, context: Existing
) -> tuple[dict[str, Any], tuple[Refusal, ...]]:
    """Return the object as a hub would store it, without unknown fields, and the refusals."""
    data, undecoded = _prepared(kind, manifest.data)
    before = _prepared(kind, old.data)[0] if old else None
    refusals = _refusals(manifest, undecoded or _checked(kind, data, before))
    if not refusals and kind.validate and (denial := kind.validate(Request(data, before, context))):
        refusals = _refusals(manifest, denial.findings, denial.text)
    return data, refusals


def _marked(refusals: Iterable[Refusal], of_the_meant: Iterable[Refusal]) -> tuple[Refusal, ...]:
    """Mark the refusals that vanish when the object has the intended field names and comes at least as far."""
    # Texts may show the whole object and then differ, so refusals are compared by field and hint.
    remain = {(it.problem.path, it.problem.hint): it.stage for it in of_the_meant}
    reached = min(map(_STAGES.index, remain.values()), default=len(_STAGES))
    return tuple(
        attrs.evolve(
            it,
            follows=(it.problem.path, it.problem.hint) not in remain and _STAGES.index(it.stage) <= reached,
        )
        for it in refusals
    )


def _unknown_fields(kind: Kind, data: Mapping[str, Any], releases: Releases) -> Iterator[Finding]:
    """Yield the unknown fields, with a hint if another version of the kind has the field."""
    findings = unknown_fields(kind.schema, data)
    others = [(other, unknown_paths(other.schema, data)) for other in versions_of(kind, releases)] if findings else []
    for finding in findings:
        for other, unknown in others:
            if finding.path not in unknown:
                finding = attrs.evolve(finding, hint=f"write apiVersion: {other.api_version}, which has it")
        yield finding


def _prepared(kind: Kind, raw: Mapping[str, Any]) -> tuple[dict[str, Any], list[Finding]]:
    """Return the object as it reaches the checks, and what a mutating webhook could not decode."""
    data: dict[str, Any] = filled(kind.schema, raw)
    if not kind.mutate:
        return data, []
    if wrong := undecodable(kind.schema, data):
        return data, wrong
    data = rewritten(kind.schema, data)
    kind.mutate(data)
    return filled(kind.schema, data), []


def _checked(kind: Kind, data: dict[str, Any], before: Mapping[str, Any] | None) -> list[Finding]:
    """Return the findings of the API server, or else the numbers that a webhook or controller cannot decode."""
    findings = check(kind.schema, data, before)
    if all(finding.path[:1] != ("metadata",) for finding in findings):
        findings += check_metadata(data.get("metadata", {}))
    return findings or too_great(kind.schema, data)


def _refusals(manifest: Manifest, findings: Iterable[Finding], text: str = "") -> tuple[Refusal, ...]:
    return tuple(
        Refusal(_problem(manifest, it), it.stage, text or it.text, it.stage == "strict" and it.follows)
        for it in findings
    )


def _problem(manifest: Manifest, finding: Finding) -> Problem:
    return attrs.evolve(manifest.problem(finding.what, finding.path, finding.hint), follows=finding.follows)
