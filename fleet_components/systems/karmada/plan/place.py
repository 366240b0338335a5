"""Decide one template: which policy claims it, which members get it, and how many replicas each
gets.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs

from fleet_components.content.outline import outlines_of
from fleet_components.model.codec import decode
from fleet_components.model.manifest import (
    Manifest,
    WorkloadShape,
    completions_of,
    replicas_of,
    value_at,
)
from fleet_components.model.message import MEMORY, Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import few
from fleet_components.plan.again import written_where_interrupted
from fleet_components.plan.overriding import InForce, in_force, rules_in_use
from fleet_components.plan.record import LACKS_HINT, Objects, digest
from fleet_components.plan.subject import Outcome
from fleet_components.rollout.rollout import Rollout
from fleet_components.scheduler.plugins import load_plugins
from fleet_components.systems.karmada.content.replicas import (
    divide_completions,
    requirements_of,
    with_replicas,
)
from fleet_components.systems.karmada.content.template import as_read
from fleet_components.systems.karmada.model.policy import (
    Failover,
    Placement,
    PolicyKey,
    PropagationPolicy,
)
from fleet_components.systems.karmada.model.template import (
    BoundPolicy,
    Claims,
    PolicyClaim,
    Template,
    template_key,
)
from fleet_components.systems.karmada.model.webster import turned
from fleet_components.systems.karmada.plan.content import Share, content_of, shape_in, shared
from fleet_components.systems.karmada.plan.dispatch import Dispatch
from fleet_components.systems.karmada.plan.overrides import PolicyOverrides
from fleet_components.systems.karmada.plan.record import TemplateRecord, TemplateState
from fleet_components.systems.karmada.scheduler import schedule
from fleet_components.systems.karmada.scheduler.failover import (
    Circumstances,
    Driven,
    driven_from,
    fail_over,
    going_on,
)
from fleet_components.systems.karmada.scheduler.matching import HubSnapshot, match_policies, matches
from fleet_components.systems.karmada.scheduler.status import TemplateDecision

if TYPE_CHECKING:
    from fleet_components.systems.karmada.plan.subject import TemplateSubject

_FROZEN = Message(
    "no-policy-follows-stays",
    "no policy follows it, so it stays as it was, and {memory} does not show how that is",
    memory=MEMORY,
)
_RELEASED = "no policy has it any more: "
_STAYS = "it stays as it was placed, and its changes are not delivered; when members change, "
_SCHEDULED = (
    "it is still scheduled by the placement that its last policy left in its binding "
    "(give it a policy, or remove the object)"
)


@attrs.frozen(kw_only=True)
class TemplateOutcome(Outcome[TemplateRecord]):
    """Outcome of deciding one template.

    Attributes:
        decision: the scheduler's decision; None if no policy's binding was scheduled.
        template: the object as the scheduler sees it.
        due: members that it has to leave later, each with the reason and the time.
        left: why the object is not delivered as it is now; empty if it is.
        by_uid: members whose replicas depend on the uid that a control plane is still to give the
            object.
    """

    decision: TemplateDecision | None
    template: Template
    due: Mapping[str, str] = attrs.field(factory=dict)
    left: str = ""
    by_uid: tuple[str, ...] = ()

    @property
    def left_later(self) -> frozenset[str]:
        """Members that are due later, or on which an eviction is under way."""
        return frozenset((*self.due, *self.record.memory.left_later))

    @property
    def notes(self) -> tuple[str, ...]:
        """Say where a tie between members falls by a uid that is not known yet."""
        if not self.by_uid:
            return ()
        return (
            (
                f"a tie between {few(self.by_uid)} falls by the uid that the control plane gives"
                " the object"
            ),
        )

    @property
    def unscheduled(self) -> str:
        """Message of the ``Scheduled`` condition; empty if the condition is True."""
        condition = self.decision.status.condition if self.decision else None
        return condition.message if condition and condition.status != "True" else ""


def place_template(request: TemplateSubject, before: TemplateRecord) -> TemplateOutcome:
    """Decide one template.

    Args:
        request: what the decision depends on.
        before: the record of the last decision; the default record for a new template.

    Raises:
        FleetError: the object's replicas or requests cannot be read, or the state hides the
            content of an object that has to stay as it was placed.
        UnreadableMemberError: an amount of a member is not a quantity.
    """
    scheduled = _scheduled(request, before)
    state, template, driven, fresh = (
        scheduled.state,
        scheduled.template,
        scheduled.driven,
        scheduled.fresh,
    )
    content = _content(request, state, before, fresh=fresh)
    revision = before.next_revision(content)
    shares = shares_of(request, state, template, content, revision)
    found = _overrides(request, state, before, (content, shares))
    # Only now, since the rules in force depend on the shares.
    shares |= {
        cluster: attrs.evolve(shares[cluster], overrides=number)
        for cluster, number in found.numbers.items()
    }
    why = {cluster: cause.words for cluster, cause in driven.now.items()}
    known = before.memory.schedule.evictions
    dispatch = Dispatch(
        state, request.done, request.inventory.names, request.eviction_timeout, known
    )
    # A member that gets nothing waits for nothing.
    waits = {cluster: gate for cluster, gate in request.waits.items() if cluster in shares}
    rollout = dispatch.plan(shares, before.decisions, why, found.reasons, waits)
    record = _record(request, before, rollout, state, (revision, content), found)
    done = request.done
    # The last update was to send this, and something else stands there.
    stopped = {
        name
        for name, sent in before.decisions.items()
        if name in done and not sent.stands(done[name])
    }
    rollout = written_where_interrupted(rollout, stopped, record, before, request)
    # Again: the rollout may now write once more what was interrupted.
    record = attrs.evolve(record, decisions=_shares_of(rollout))
    goal = _goal(
        record,
        rollout,
        {name: share for name, share in shares.items() if name not in found.failing},
    )
    due = {
        cluster: words
        for cluster, words in driven.due.items()
        if cluster in state.schedule.clusters
    }
    left = "" if scheduled.followed else _left(state, moves=fresh)
    return TemplateOutcome(
        record=record,
        decision=scheduled.decision,
        rollout=rollout,
        goal=goal,
        failing=found.failing,
        template=template,
        due=due,
        left=left,
        by_uid=_by_uid(request, before, state),
    )


def _by_uid(
    request: TemplateSubject, before: TemplateRecord, state: TemplateState
) -> tuple[str, ...]:
    """Return the members whose replicas would be others with another uid, where a control plane
    gives it.
    """
    bound = state.claim.bound
    # A fleet without a control plane makes the uid itself, and only a control plane brings
    # namespaces.
    given = not request.settings.brings_namespaces or before.memory.schedule.uid
    if given or bound is None or not bound.placement.divided:
        return ()
    other = _scheduled(
        attrs.evolve(request, uid=turned(request.uid)), before
    ).state.schedule.clusters
    here = state.schedule.clusters
    return tuple(
        sorted(name for name in {*here, *other} if here.get(name, 0) != other.get(name, 0))
    )


def chosen(request: TemplateSubject, before: TemplateRecord) -> frozenset[str]:
    """Return the members that :func:`place_template` chooses.

    Raises:
        FleetError: as for :func:`place_template`.
    """
    return frozenset(_scheduled(request, before).state.schedule.clusters)


@attrs.frozen
class _Scheduled:
    """A template after scheduling: its state, and what led to it.

    Attributes:
        state: the state after scheduling.
        template: the object as the scheduler sees it.
        driven: members that it has to leave.
        decision: the scheduler's decision; None if no policy's binding was scheduled.
        fresh: True if it is delivered as it is now.
        followed: True if its changes are delivered.
    """

    state: TemplateState
    template: Template
    driven: Driven
    decision: TemplateDecision | None
    fresh: bool
    followed: bool


def _scheduled(request: TemplateSubject, before: TemplateRecord) -> _Scheduled:
    state = _matched(request, before.memory)
    fresh = _is_fresh(state, before)
    if not fresh and before.revision not in before.contents:
        raise FleetError([Problem(_FROZEN, subject=request.name, hint=LACKS_HINT)])
    shapes = request.settings.shapes
    matched = request.matched
    state = attrs.evolve(state, replicas=replicas_of(matched, shapes) if fresh else state.replicas)
    template = scheduled_form(matched, state.replicas, shapes)
    driven = _driven(request, state)
    # From before the decision, which may rewrite an object that no policy follows.
    followed, (state, decision) = fresh, _decided(request, state, template, driven)
    return _Scheduled(
        state, template, driven, decision, fresh or _is_rewritten(state, before.memory), followed
    )


def _goal(record: TemplateRecord, rollout: Rollout, shares: Mapping[str, Share]) -> TemplateRecord:
    """Return the record in which held members have their share: none, where the copy stays only
    for now.
    """
    evicted = record.memory.schedule.evictions
    leaving = {name for name in rollout.held if name in evicted and name not in shares}
    # With purge mode Never the copy stays for good, not only for now.
    leaving -= {name for name in leaving if evicted[name].suppress_deletion}
    if not rollout.held:
        return record
    kept = {name: share for name, share in _shares_of(rollout).items() if name not in leaving}
    wanted = {name: share for name, share in shares.items() if name in rollout.held}
    return attrs.evolve(record, decisions={**kept, **wanted})


def _shares_of(rollout: Rollout) -> dict[str, Share]:
    return {
        cluster: entry.placed
        for cluster, entry in rollout.entries.items()
        if isinstance(entry.placed, Share)
    }


def _overrides(
    request: TemplateSubject,
    state: TemplateState,
    before: TemplateRecord,
    sent: tuple[Objects, Mapping[str, Share]],
) -> InForce:
    """Return the override rules that are in force on the members with a share."""
    content, shares = sent
    claimed = (state.claim.policy.kind,) if state.claim.policy else ()
    wanted, made = {}, dict[tuple[int | None, int | None], Objects]()
    for cluster, share in shares.items():
        # `shares_of` leaves out who is not a member, so the position is never None.
        member = request.inventory.clusters[request.inventory.position(cluster) or 0]
        counts = share.replicas, share.completions  # all that the members' objects differ in
        if counts not in made:
            made[counts] = (shared(content, share),)
        wanted[cluster] = member, share.revision, made[counts]
    overrides = PolicyOverrides(request.policies.override_index, request.custom, claimed)
    return in_force(overrides, before, wanted, request.done)


def _record(
    request: TemplateSubject,
    before: TemplateRecord,
    rollout: Rollout,
    state: TemplateState,
    now: tuple[int, Objects],
    found: InForce,
) -> TemplateRecord:
    placed, done = _shares_of(rollout), request.done.values()
    kept, rules = (
        before.in_use(now[0], dict([now]), placed, done),
        rules_in_use(before, found, placed, done),
    )
    return TemplateRecord(now[0], placed, state, *kept, *rules, secret=before.secret)


def _matched(request: TemplateSubject, before: TemplateState) -> TemplateState:
    """Return the state with its claim up to date, without policies that do not concern the
    template.
    """
    # The object is older than its first policy: with activationPreference Lazy it is left until it
    # changes.
    if request.waited and not before.seen:
        before = attrs.evolve(
            before, claim=PolicyClaim(revision=1), seen=request.waited, generation=1
        )
    key, seen = template_key(request.manifest), _seen(request.manifest, before)
    # A changed digest is one generation more: True counts as 1.
    generation = before.generation + (seen != before.seen)
    overrides = request.policies.override_index.keys
    policies = _concerning(request, before)
    hub = HubSnapshot({key: request.matched}, policies, overrides, {key: generation})
    # Without a digest the object is new, and has no claim.
    known = Claims({key: before.claim} if before.seen else {}, before.policies)
    claims = match_policies(hub, known, preemption=request.settings.preemption).claims
    claim = claims.of(key)
    holders = {claim.policy, claim.bound.policy if claim.bound else None}
    concerned = {p.key.path for p in policies if p.key in holders or matches(p, request.matched)}
    # Sorted, so that the state does not change with the order of the source.
    remembered = {
        path: seen_policy
        for path, seen_policy in sorted(claims.policies.items())
        if path in concerned
    }
    required = {
        parent: dict(clusters)
        for parent, clusters in sorted(request.needs.required_by.items())
        if clusters
    }
    return attrs.evolve(
        before,
        claim=_settled(claim),
        policies=remembered,
        seen=seen,
        generation=generation,
        # A known uid stays, so that ties between members do not change.
        schedule=attrs.evolve(
            before.schedule, uid=before.schedule.uid or request.uid, required_by=required
        ),
    )


def _seen(manifest: Manifest, before: TemplateState) -> str:
    """Return the digest of an object; that of before for a Secret of which nothing that was read
    has changed.
    """
    outlines = (digest((outline,)) for outline in outlines_of(manifest.data))
    return before.seen if before.seen in outlines else digest((manifest.data,))


def _concerning(request: TemplateSubject, before: TemplateState) -> tuple[PropagationPolicy, ...]:
    """Return the policies that may match the template, hold it, or are remembered: all others
    change nothing for it.
    """
    index, bound = request.policies.index, before.claim.bound
    held = {before.claim.policy, bound.policy if bound else None} - {None}
    known = (*held, *(PolicyKey(*path.split("/")) for path in before.policies))
    named = (policy for key in known if key and (policy := index.named(key)))
    return tuple(
        {policy.key: policy for policy in (*index.candidates(request.matched), *named)}.values()
    )


def _settled(claim: PolicyClaim) -> PolicyClaim:
    """Return the claim as it is read back from the state."""
    # Only a claim in this form compares equal with what the next run reads.
    return Claims.from_wire(Claims({"": claim}).to_wire()).of("")


def _is_fresh(state: TemplateState, before: TemplateRecord) -> bool:
    """Return whether the object is delivered as it is now. If no policy follows it, it stays as
    it was placed.
    """
    needed = bool(state.schedule.required_by) and not any(state.schedule.clusters.values())
    # A revision below 0: nothing was decided yet.
    return needed or before.revision < 0 or not state.frozen


def _is_rewritten(state: TemplateState, before: TemplateState) -> bool:
    """Return whether the scheduler or an eviction changes a binding without a policy.

    Then all its Works are made from the object as it is now, but for the replicas, which are
    those of the binding. Source: karmada-io/karmada 1.19,
    pkg/controllers/binding/binding_controller.go, syncBinding.
    """
    now, then = state.schedule, before.schedule
    return state.policy is None and (now.clusters, set(now.evictions)) != (
        then.clusters,
        set(then.evictions),
    )


def _left(state: TemplateState, *, moves: bool) -> str:
    """Return why the object is not followed, and what moves it nevertheless."""
    if state.policy is None:
        return f"{_RELEASED}{'' if moves else _STAYS}{_SCHEDULED}"
    return (
        f"{state.policy.kind} {state.policy} does not follow it as it is now: its changes are not"
        " delivered"
    )


def scheduled_form(
    manifest: Manifest, replicas: int, shapes: tuple[WorkloadShape, ...]
) -> Template:
    """Return an object with this number of replicas as the scheduler sees it."""
    requires = requirements_of(manifest, shapes)
    requests = requires.requests if requires else None
    return Template(
        manifest.api_version, manifest.kind, manifest.name, manifest.namespace, replicas, requests
    )


def _driven(request: TemplateSubject, state: TemplateState) -> Driven:
    """Return the members that the template has to leave; without a policy, the placement applied
    last counts.
    """
    placement = (
        state.claim.bound.placement
        if state.policy and state.claim.bound
        else state.schedule.placement
    )
    if placement is None:
        return Driven()
    failover = decode(Failover, state.spec["failover"]) if state.spec.get("failover") else None
    around = Circumstances(
        placement=placement,
        failover=failover,
        unhealthy=request.unhealthy,
        settings=request.settings,
    )
    return driven_from(request.inventory, around)


def _decided(
    request: TemplateSubject, state: TemplateState, template: Template, driven: Driven
) -> tuple[TemplateState, TemplateDecision | None]:
    """Return the state after scheduling, and the decision: None where there is no binding.

    A binding that its policy has released is scheduled by the placement that it keeps, when
    members change.
    """
    bound, exact = state.claim.bound, request.settings.exact
    if bound is None:
        return state, None
    released, asked = bound.policy is None, request.rebalances
    if released and not exact:  # every update looks, but a rebalance does not reach the scheduler
        asked &= set(state.schedule.rebalances)
    plugins = load_plugins(request.plugins)
    run = partial(
        schedule,
        request.inventory,
        template,
        bound.placement,
        rebalances=asked,
        plugins=plugins,
        # Without a policy, only changes of members make an observed scheduler look again.
        binding=None if released and exact else bound_to(bound),
    )
    decision = fail_over(run, state.schedule, driven, exact=exact)
    decided = _moved(request, state, decision)
    if released and attrs.evolve(decided.schedule, looked=state.schedule.looked) == state.schedule:
        return state, decision  # another look would find the same
    if decision.memory.evictions:  # an eviction that ends now may let the object return
        after = fail_over(run, decided.schedule, driven, exact=exact)
        returned = _moved(request, decided, after)
        if returned != decided:
            return returned, after
    return decided, decision


def bound_to(bound: BoundPolicy) -> Mapping[str, Any]:
    """Return what the binding holds beside the placement, as far as a change of it makes the
    scheduler look again.
    """
    return {"revision": bound.revision, "spec": bound.spec}


def _moved(
    request: TemplateSubject, state: TemplateState, decision: TemplateDecision
) -> TemplateState:
    """Return the state with the decision, without the evictions that end with this update."""
    state = attrs.evolve(state, schedule=decision.memory)
    dispatch = Dispatch(state, request.done, request.inventory.names)
    timeout = request.settings.graceful_eviction_timeout
    # Without `exact`, no eviction ends by time: it could remove the only copy.
    as_of = request.inventory.as_of if request.settings.exact else None
    tasks = going_on(decision, dispatch.emptied, dispatch.standing, as_of=as_of, timeout=timeout)
    return attrs.evolve(state, schedule=attrs.evolve(decision.memory, evictions=tasks))


def _content(
    request: TemplateSubject, state: TemplateState, before: TemplateRecord, *, fresh: bool
) -> Objects:
    divided = state.claim.bound is not None and state.claim.bound.placement.divided
    manifest, shapes = request.manifest, request.settings.shapes
    # A binding without a policy keeps its replicas, whatever the object asks for by now.
    if (
        fresh
        and state.claim.bound
        and state.policy is None
        and state.replicas not in (0, replicas_of(request.matched, shapes))
    ):
        manifest = Manifest(with_replicas(manifest, state.replicas, declared=shapes))
    content = content_of(manifest, request.settings.workloads, divided=divided)
    # Present: `_scheduled` refuses a frozen template whose content is hidden.
    found = content if fresh else (before.contents[before.revision][0], *content[1:])
    return (
        before.settled(found, lambda data: as_read(data, request.custom))
        if request.by_hub
        else found
    )


def _completions(
    request: TemplateSubject, content: Objects, state: TemplateState, *, divided: bool
) -> Mapping[str, int]:
    """Return the completions of a Job by member, as far as it is not written with them; empty for
    other kinds.

    A Job with neither completions nor parallelism is stored with one of each. Karmada sends both,
    since a Job with a parallelism alone is a work queue.
    """
    held, written = state.schedule.clusters, Manifest(content[0])
    # The content of a divided Job lacks its parallelism, which says whether it is a work queue.
    job = request.matched if value_at(written.data, ("spec", "completions")) is None else written
    if divided:
        return divide_completions(job, held, state.schedule.uid) if any(held.values()) else {}
    filled = None if job is written else completions_of(job)
    return {} if filled is None else dict.fromkeys(held, filled)


def shares_of(
    request: TemplateSubject,
    state: TemplateState,
    template: Template,
    content: Objects,
    revision: int,
) -> dict[str, Share]:
    """Return what each member of the fleet is to get."""
    held = state.schedule.clusters
    placement = state.claim.bound.placement if state.claim.bound else Placement()
    divided = template.workload and placement.divided
    shape = shape_in(content)
    # 0 replicas: not a workload.
    counted = template.workload or (shape is not None and shape.replicas is not None)
    completions = _completions(request, content, state, divided=divided)
    return {
        cluster: Share(
            revision=revision,
            replicas=held.get(cluster) if counted else None,
            completions=completions.get(cluster),
        )
        for cluster in state.targets
        if request.inventory.position(cluster) is not None
    }
