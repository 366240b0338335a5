"""One template, decided: which policy has it, which members get it, and with how many replicas."""

from __future__ import annotations

from collections.abc import Mapping

import attrs

from fleet_components.content.karmada.replicas import divide_completions, replicas_of
from fleet_components.content.karmada.requirements import requirements_of
from fleet_components.content.karmada.workload import shape_of
from fleet_components.model.claims import Claim, Claims, template_key
from fleet_components.model.codec import decode
from fleet_components.model.inventory import Inventory
from fleet_components.model.karmada import Placement, PropagationPolicy, Suspension
from fleet_components.model.karmada_override import OverridePolicy
from fleet_components.model.manifest import Manifest
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.template import Template
from fleet_components.plan.karmada.content import CONFLICT_RESOLUTION, content_of, emitted
from fleet_components.plan.karmada.record import Share, TemplateRecord, TemplateState
from fleet_components.plan.record import Objects, digest
from fleet_components.rollout.plan import Change, Done, Entry, Plan, Wave
from fleet_components.scheduler.karmada import schedule
from fleet_components.scheduler.karmada.matching import Hub, MatchSettings, match_policies, matches
from fleet_components.scheduler.karmada.status import TemplateDecision

_NOTHING = Done(None)
_SUSPENDED = "dispatching is suspended by the policy"


@attrs.frozen
class TemplateRequest:
    """All that a decision depends on, apart from what was decided before.

    Attributes:
        key: the template, as ``namespace/Kind/name``.
        manifest: the object.
        inventory: the fleet.
        policies: the propagation policies.
        overrides: the override policies.
        uid: the template's stable uid; ties between members depend on it.
        rebalances: the names of the rebalances that ask for it.
        required_by: the members of the templates that need it, by their keys.
        done: what really runs, by cluster.
        settings: how the control plane would be set up.
    """

    key: str
    manifest: Manifest
    inventory: Inventory
    policies: tuple[PropagationPolicy, ...] = ()
    overrides: tuple[OverridePolicy, ...] = ()
    uid: str = ""
    rebalances: frozenset[str] = frozenset()
    required_by: Mapping[str, Mapping[str, int]] = attrs.field(factory=dict)
    done: Mapping[str, Done] = attrs.field(factory=dict)
    settings: MatchSettings = MatchSettings()


@attrs.frozen
class TemplateOutcome:
    """What was decided.

    Attributes:
        record: what to keep.
        decision: the scheduler's decision; None where no policy's binding was scheduled.
        rollout: which members change, and which are held.
        template: the object as the scheduler sees it.
    """

    record: TemplateRecord
    decision: TemplateDecision | None
    rollout: Plan
    template: Template

    @property
    def failure(self) -> str:
        """Why nothing could be scheduled, in Karmada's words; empty when it could."""
        condition = self.decision.status.condition if self.decision else None
        return condition.message if condition and condition.status != "True" else ""


def place_template(request: TemplateRequest, before: TemplateRecord) -> TemplateOutcome:
    """Decide one template.

    Args:
        request: what it depends on.
        before: what was decided before; the default record for a new template.

    Raises:
        FleetError: the object's replicas cannot be read, or an override does not apply.
    """
    state = _matched(request, before.memory)
    fresh = _is_fresh(state, before)
    state = attrs.evolve(state, replicas=replicas_of(request.manifest) if fresh else state.replicas)
    template = _template(request.manifest, state.replicas)
    decision = _scheduled(request, state, template)
    if decision:
        state = attrs.evolve(state, schedule=decision.memory)
    content = _content(request, state, before, fresh=fresh)
    revision = before.next_revision(content)
    shares = _shares(request, state, template, Manifest(content[0]), revision)
    rollout = _rollout(request, state, shares, before)
    placed = {cluster: entry.placed for cluster, entry in rollout.entries.items() if isinstance(entry.placed, Share)}
    kept = before.in_use(revision, content, placed, request.done.values())
    record = TemplateRecord(revision, placed, state, *kept)
    _check(request, record, rollout)
    return TemplateOutcome(record, decision, rollout, template)


def overwrites(state: TemplateState, manifest: Manifest) -> bool:
    """Whether objects that somebody else made are taken over; the object's own annotation beats the policy."""
    asked = (manifest.metadata.get("annotations") or {}).get(CONFLICT_RESOLUTION)
    return str(asked or state.spec.get("conflictResolution", "")).lower() == "overwrite"


def passed_on(state: TemplateState, *, always: bool) -> dict[str, int]:
    """The members to which a template takes what it needs.

    Args:
        state: what is remembered of the template.
        always: also without ``propagateDeps``, as its namespace is.
    """
    if not always and not state.spec.get("propagateDeps"):
        return {}
    return dict.fromkeys(state.targets if always else sorted(state.schedule.clusters), 0)


def _matched(request: TemplateRequest, before: TemplateState) -> TemplateState:
    """The state with its claim up to date; policies that do not concern the template are not remembered."""
    key, seen = template_key(request.manifest), digest((request.manifest.data,))
    generation = before.generation + (seen != before.seen)
    overrides = frozenset(policy.key for policy in request.overrides)
    hub = Hub({key: request.manifest}, request.policies, overrides, {key: generation})
    known = Claims({key: before.claim} if before.seen else {}, before.policies)
    claims = match_policies(hub, known, request.settings).claims
    claim = claims.of(key)
    holders = {claim.policy, claim.bound.policy if claim.bound else None}
    concerned = {
        f"{p.key.kind}/{p.key.namespace}/{p.key.name}"
        for p in request.policies
        if p.key in holders or matches(p, request.manifest)
    }
    policies = {path: seen_policy for path, seen_policy in sorted(claims.policies.items()) if path in concerned}
    required = {parent: dict(clusters) for parent, clusters in sorted(request.required_by.items()) if clusters}
    return attrs.evolve(
        before,
        claim=_settled(claim),
        policies=policies,
        seen=seen,
        generation=generation,
        schedule=attrs.evolve(before.schedule, uid=before.schedule.uid or request.uid, required_by=required),
    )


def _settled(claim: Claim) -> Claim:
    """The claim in the form that it has in the state."""
    return Claims.from_wire(Claims({"": claim}).to_wire()).of("")


def _is_fresh(state: TemplateState, before: TemplateRecord) -> bool:
    """Whether the object is delivered as it is now. Without a policy that follows it, it stays as it was."""
    bound = state.claim.bound
    needed = bool(state.schedule.required_by) and not any(state.schedule.clusters.values())
    if bound is None or needed or before.revision not in before.contents:
        return True
    return bound.policy is not None and bound.revision == state.generation


def _template(manifest: Manifest, replicas: int) -> Template:
    requires = requirements_of(manifest)
    requests = requires.requests if requires else None
    return Template(manifest.api_version, manifest.kind, manifest.name, manifest.namespace, replicas, requests)


def _scheduled(request: TemplateRequest, state: TemplateState, template: Template) -> TemplateDecision | None:
    """The scheduler's decision; None where no binding belongs to a policy, which the scheduler ignores."""
    bound = state.claim.bound
    if bound is None or bound.policy is None:
        return None
    return schedule(request.inventory, template, bound.placement, state.schedule, rebalances=request.rebalances)


def _content(request: TemplateRequest, state: TemplateState, before: TemplateRecord, *, fresh: bool) -> Objects:
    divided = state.claim.bound is not None and state.claim.bound.placement.divided
    content = content_of(request.manifest, request.overrides, divided=divided)
    return content if fresh else (before.contents[before.revision][0], *content[1:])


def _shares(
    request: TemplateRequest, state: TemplateState, template: Template, content: Manifest, revision: int
) -> dict[str, Share]:
    """What each member of the fleet is to get."""
    held = state.schedule.clusters
    placement = state.claim.bound.placement if state.claim.bound else Placement()
    divided = template.workload and placement.divided
    shape = shape_of(content)
    counted = template.workload or (shape is not None and shape.replicas is not None)  # scaled to 0 is no workload
    completions = divide_completions(content, held, state.schedule.uid) if divided and any(held.values()) else {}
    return {
        cluster: Share(
            revision=revision,
            replicas=held.get(cluster) if counted else None,
            completions=completions.get(cluster),
        )
        for cluster in state.targets
        if request.inventory.position(cluster) is not None
    }


def _rollout(
    request: TemplateRequest, state: TemplateState, shares: Mapping[str, Share], before: TemplateRecord
) -> Plan:
    """All members at once: Karmada has no budget. What is dropped goes at the end, when the rest stands."""
    suspension = decode(Suspension, state.spec.get("suspension") or {})
    entries = {
        cluster: _held(request.done.get(cluster, _NOTHING))
        if suspension.suspends(cluster)
        else _entry(request.done.get(cluster, _NOTHING), share)
        for cluster, share in shares.items()
    }
    runs = {cluster for cluster, done in request.done.items() if done.revision is not None}
    removals = tuple(sorted((runs | set(before.decisions)) - set(shares)))
    entries |= dict.fromkeys(removals, Entry(Change.REMOVE, None))
    moving = tuple(c for c, entry in sorted(entries.items()) if entry.change in (Change.ADD, Change.UPDATE))
    return Plan(dict(sorted(entries.items())), (Wave(1, moving),) if moving else (), removals)


def _entry(done: Done, share: Share) -> Entry:
    if done.revision is None:
        return Entry(Change.ADD, share)
    return Entry(Change.KEEP if share.stands(done) else Change.UPDATE, share)


def _held(done: Done) -> Entry:
    """What runs stays as it is; a member that has nothing gets nothing."""
    if done.revision is None:
        return Entry(Change.HELD, None, _SUSPENDED)
    share = Share(revision=done.revision, replicas=done.replicas, completions=done.completions)
    return Entry(Change.HELD, share, _SUSPENDED)


def _check(request: TemplateRequest, record: TemplateRecord, rollout: Plan) -> None:
    """Refuse an override that fails before anything is changed: Karmada would leave that member behind."""
    problems: dict[str, Problem] = {}
    for cluster, share in record.decisions.items():
        position = request.inventory.position(cluster)
        content = record.contents.get(share.revision)
        if position is None or content is None or rollout.entries[cluster].change is Change.HELD:
            continue
        try:
            emitted(content, share, request.inventory.clusters[position])
        except FleetError as error:
            problems |= {str(problem): problem for problem in error.problems}
    if problems:
        raise FleetError(problems.values())
