"""The templates that Karmada's policies place, planned."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import attrs

from fleet_components.cli.planning.past import LACKS_HINT, completed
from fleet_components.content.secret import is_secret, redacted
from fleet_components.content.strip import strip
from fleet_components.model.claims import Claims, template_key
from fleet_components.model.inventory import Inventory
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan.karmada.content import content_of, emitted
from fleet_components.plan.karmada.needs import Needs, needs_of
from fleet_components.plan.karmada.place import TemplateOutcome, TemplateRequest, place_template
from fleet_components.plan.karmada.record import TemplateRecord
from fleet_components.plan.karmada.templates import Templates
from fleet_components.rollout.plan import Done
from fleet_components.scheduler.karmada.explain import TemplateExplanation, explain
from fleet_components.scheduler.karmada.match_explanation import PolicyVerdict, explain_match

_FROZEN = "no policy follows it, so it stays as it was, and the state does not show how that is"


@attrs.frozen
class DecidedTemplate:
    """One template, decided.

    Attributes:
        request: what the decision depends on.
        before: what was decided before.
        outcome: what is decided now.
        needs: what it takes over from the templates that need it.
    """

    request: TemplateRequest
    before: TemplateRecord
    outcome: TemplateOutcome
    needs: Needs = Needs()

    @property
    def key(self) -> str:
        """``namespace/Kind/name``."""
        return self.request.key

    @property
    def name(self) -> str:
        """What it is called in states: its key."""
        return self.request.key

    @property
    def policies(self) -> list[PolicyVerdict]:
        """Which policy has it, and why."""
        request, memory = self.request, self.outcome.record.memory
        claims = Claims({template_key(request.manifest): memory.claim})
        return explain_match(request.manifest, request.policies, claims, frozenset(p.key for p in request.overrides))

    @property
    def explanation(self) -> TemplateExplanation:
        """Why each member has it; empty where no policy's placement was scheduled."""
        bound, decision = self.outcome.record.memory.claim.bound, self.outcome.decision
        if bound is None or decision is None:
            return TemplateExplanation(())
        return explain(self.request.inventory, self.outcome.template, bound.placement, decision)

    def brings(self) -> Iterator[tuple[str, Mapping[str, Any]]]:
        """Every member with the object that it gets, as far as the content is known.

        Raises:
            FleetError: an override does not apply to what a member keeps.
        """
        request, record = self.request, self.outcome.record
        overwrite = self.needs.overwrites(record.memory, request.manifest)
        for cluster, share in sorted(record.decisions.items()):
            position = request.inventory.position(cluster)
            if position is not None and share.revision in record.contents:
                member = request.inventory.clusters[position]
                yield cluster, emitted(record.contents[share.revision], share, member, overwrite=overwrite)

    def object_keys(self) -> Iterator[tuple[str, ObjectKey]]:
        """What :meth:`brings` brings; an override may rename it."""
        return ((cluster, Manifest(data).key) for cluster, data in self.brings())

    def unknown(self) -> Iterator[Problem]:
        """The problem of an object that no policy follows any more, and whose old form the state hides."""
        before, after = self.before, self.outcome.record
        if (
            after.memory.frozen
            and before.revision not in (-1, after.revision)
            and before.revision not in before.contents
        ):
            yield Problem(_FROZEN, subject=self.name, hint=LACKS_HINT)


def plan_templates(
    templates: Templates,
    inventory: Inventory,
    stack: str,
    records: Mapping[str, TemplateRecord],
    done: Mapping[str, Mapping[str, Done]],
) -> tuple[DecidedTemplate, ...]:
    """Decide every template, those first that need others.

    Args:
        templates: the templates.
        inventory: the members.
        stack: the stack, which ties between members depend on.
        records: what was decided before, by key.
        done: what really runs, by key and member.

    Raises:
        FleetError: templates cannot be decided; all problems at once.
    """
    decided: dict[str, DecidedTemplate] = {}
    problems: list[Problem] = []
    for workload in templates.workloads:
        parents = {key: decided[key].outcome.record.memory.to_wire() for key in workload.needed_by if key in decided}
        needs = needs_of(parents, {key for key, always in workload.needed_by.items() if always})
        request = attrs.evolve(
            templates.request(workload, inventory, stack),
            required_by=needs.required_by,
            done=done.get(workload.key, {}),
        )
        before = completed_template(request, records.get(workload.key, TemplateRecord()))
        try:
            decided[workload.key] = DecidedTemplate(request, before, place_template(request, before), needs)
        except FleetError as error:
            problems += error.problems
    problems += [problem for template in decided.values() for problem in template.unknown()]
    if problems:
        raise FleetError(dict.fromkeys(problems))
    return tuple(decided.values())


def with_needs(templates: Iterable[DecidedTemplate]) -> Iterator[DecidedTemplate]:
    """Templates of a program that ran, with what they take over from each other."""
    known = {template.name: template for template in templates}
    for template in known.values():
        parents = {key: known[key].outcome.record.memory.to_wire() for key in template.request.required_by}
        goes_along = template.request.manifest.api_version == "v1" and template.request.manifest.kind == "Namespace"
        yield attrs.evolve(template, needs=needs_of(parents, parents if goes_along else ()))


def completed_template(request: TemplateRequest, before: TemplateRecord) -> TemplateRecord:
    """A record with what the state hides and is still the same: all contents, or the data of a Secret."""
    if not before.contents:
        for divided in (False, True):
            content = content_of(request.manifest, request.overrides, request.settings.workloads, divided=divided)
            before = completed(before, content)
        return before
    whole = strip(request.manifest).data
    if not is_secret(whole):
        return before
    hidden = redacted(whole)
    contents = {n: (whole if first == hidden else first, *rest) for n, (first, *rest) in before.contents.items()}
    return attrs.evolve(before, contents=contents)
