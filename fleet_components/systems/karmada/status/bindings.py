"""Statuses of templates and their bindings, in the form of Karmada's API.

Source: ``pkg/util/helper/workstatus.go`` and ``pkg/controllers/status`` of Karmada 1.19. Times and
generations of the control plane are left out: there is none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.hub.listing import Listing, Object
from fleet_components.model.codec import encode
from fleet_components.model.decision import Condition
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.observed import ObservedMember, ObservedObject
from fleet_components.plan.subject import Decided, Delivery
from fleet_components.status.facts import PolicyDocument, SubjectFacts
from fleet_components.systems.karmada.content.health import UNKNOWN, health
from fleet_components.systems.karmada.hub.kinds import BINDINGS, WORK_GROUP
from fleet_components.systems.karmada.model.template import binding_name
from fleet_components.systems.karmada.plan.place import TemplateOutcome
from fleet_components.systems.karmada.plan.record import TemplateState
from fleet_components.systems.karmada.plan.subject import TemplateSubject
from fleet_components.systems.karmada.scheduler.status import SUCCESS, TemplateDecision
from fleet_components.systems.karmada.status.aggregation import aggregated, reflected

API_VERSION = "work.karmada.io/v1alpha2"
_APPLIED = Condition(
    "FullyApplied", "True", "FullyAppliedSuccess", "All works have been successfully applied"
)
_FAILED = Condition(
    "FullyApplied",
    "False",
    "FullyAppliedFailed",
    "Failed to apply all works, see status.aggregatedStatus for details",
)
_HEALTH = {"Available": "Healthy", "ManifestNotAvailableYet": "Unhealthy"}


def binding_status(decided: Decided, observed: Mapping[str, ObservedMember]) -> dict[str, Any]:
    """Return the ``status`` of the binding of a template.

    Args:
        decided: the template.
        observed: what is known of its copies, by member; members of which nothing is known are
            missing.
    """
    state: TemplateState = decided.record.memory
    items = _items(decided, observed)
    scheduled = scheduling_status(decided.outcome.decision, state)
    return {
        **scheduled,
        "conditions": [*scheduled["conditions"], *map(attrs.asdict, _fully_applied(state, items))],
        **({"aggregatedStatus": items} if items else {}),
    }


def scheduling_status(decision: TemplateDecision | None, state: TemplateState) -> dict[str, Any]:
    """Return the part of the ``status`` of a binding that the scheduler writes.

    Args:
        decision: its last decision; None for a binding without a policy, which keeps its condition.
        state: the state of the template.
    """
    last = decision.status.condition if decision else SUCCESS if state.schedule.scheduled else None
    group = state.schedule.observed_group
    return {
        "conditions": [attrs.asdict(last)] if last else [],
        **({"schedulerObservingAffinityName": group} if group else {}),
    }


def binding_metadata(manifest: Manifest) -> dict[str, str]:
    """Return the name and the namespace of an object's binding."""
    return {"name": binding_name(manifest.kind, manifest.name), **_scope(manifest)}


def template_status(decided: Decided, observed: Mapping[str, ObservedMember]) -> dict[str, Any]:
    """Return the ``status`` of a template itself, as Karmada makes it of those of its copies.

    It is empty for kinds for which Karmada makes none, and for those of other projects: their
    scripts are not run.

    Args:
        decided: the template.
        observed: what is known of its copies, by member.
    """
    return dict(aggregated(_manifest(decided), _items(decided, observed)))


def api_objects(
    decided: Decided, observed: Mapping[str, ObservedMember]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the binding and the template, each with nothing but its status."""
    manifest = _manifest(decided)
    kind = "ResourceBinding" if manifest.namespace else "ClusterResourceBinding"
    return (
        {
            "apiVersion": API_VERSION,
            "kind": kind,
            "metadata": binding_metadata(manifest),
            "status": binding_status(decided, observed),
        },
        {
            "apiVersion": manifest.api_version,
            "kind": manifest.kind,
            "metadata": {"name": manifest.name, **_scope(manifest)},
            "status": template_status(decided, observed),
        },
    )


def _manifest(decided: Decided) -> Manifest:
    assert isinstance(decided.subject, TemplateSubject)
    return decided.subject.manifest


def _scope(manifest: Manifest) -> dict[str, str]:
    return {"namespace": manifest.namespace} if manifest.namespace else {}


def _fully_applied(state: TemplateState, items: list[dict[str, Any]]) -> list[Condition]:
    """Return the condition, which is there once the template has been scheduled, or goes along with
    others.
    """
    if not state.schedule.scheduled and not items:
        return []
    targets = {*state.targets, *state.left_later}
    applied = {item["clusterName"] for item in items if item.get("applied")}
    # An entry beyond the applied ones is that of a copy that was not applied.
    return [_APPLIED if targets and targets == applied and len(applied) == len(items) else _FAILED]


def _items(decided: Decided, observed: Mapping[str, ObservedMember]) -> list[dict[str, Any]]:
    """Return the entries of the members that have a copy, or were sent one, by name; copies that go
    do not count.

    A member to which dispatching is suspended has an entry as well: its Work exists, and nothing is
    known about it.
    """
    items = [{"clusterName": cluster, "health": UNKNOWN} for cluster in _never_dispatched(decided)]
    for cluster in sorted(observed.keys() & decided.deliveries.keys()):
        delivery, member = decided.deliveries[cluster], observed[cluster]
        # A template has one object on each member.
        found = member.objects.get(decided.keys(cluster)[0])
        if found and found.applied:
            items.append({"clusterName": cluster, **_item(delivery, found, cluster)})
        elif found or member.unreached:
            words = (found.error if found else "") or member.unreached
            items.append(
                {
                    "clusterName": cluster,
                    **({"appliedMessage": words} if words else {}),
                    "health": UNKNOWN,
                }
            )
    return sorted(items, key=lambda item: str(item["clusterName"]))


def _never_dispatched(decided: Decided) -> list[str]:
    """Return the targets that have nothing, since dispatching to them is suspended."""
    state: TemplateState = decided.record.memory
    suspension = state.suspension
    without = (cluster for cluster in state.targets if decided.done(cluster).revision is None)
    return [cluster for cluster in without if suspension.suspends(cluster)]


def _item(delivery: Delivery, found: ObservedObject, cluster: str) -> dict[str, Any]:
    manifest = Manifest(delivery.objects[0])
    if found.applied != "Applied":
        words = _refusal(manifest, cluster) if found.applied == "NotTakenOver" else found.error
        return {
            "appliedMessage": f"Failed to apply all manifests (0/1): {words}",
            "health": UNKNOWN,
        }
    status = None if found.status is None else reflected(manifest, found.status, found.generation)
    return {
        **({} if status is None else {"status": status}),
        "applied": True,
        "health": _health(delivery, found),
    }


def _refusal(manifest: Manifest, cluster: str) -> str:
    """Return Karmada's words for an object that stood there before and is not taken over."""
    path = "/".join(filter(None, (manifest.namespace, manifest.name)))
    return (
        f"resource(kind={manifest.kind}, {path}) already exists in the cluster {cluster} and the"
        " work.karmada.io/conflict-resolution strategy value is empty, Karmada will not manage"
        " this resource"
    )


def _health(delivery: Delivery, found: ObservedObject) -> str:
    """Return the health of a copy: from its status, or else from what the engine has seen of it."""
    # Without a status only the engine's verdict on the readiness of the object is known.
    if found.status is None and found.available:
        return _HEALTH.get(found.available, UNKNOWN)
    data = delivery.objects[0]
    known = {"generation": found.generation} if found.generation else {}
    # The member decides about fields that are left alone, such as the replicas: they prove nothing.
    spec = data.get("spec") or {}
    stated = {
        name: value for name, value in spec.items() if f"spec.{name}" not in delivery.left_alone
    }
    return health(
        {**data, "metadata": {**data["metadata"], **known}, "spec": stated, "status": found.status}
    )


def facts(decided: Decided) -> SubjectFacts:
    """Return the facts of a template."""
    subject, outcome = decided.subject, decided.outcome
    assert isinstance(subject, TemplateSubject)
    assert isinstance(outcome, TemplateOutcome)
    verdicts, memory = subject.verdicts(outcome), outcome.record.memory
    policy = memory.policy
    return SubjectFacts(
        policy=f"{policy.kind} {policy}" if policy else "no policy",
        policies=tuple(
            PolicyDocument(
                f"{verdict.policy.kind} {verdict.policy}",
                verdict.wins,
                verdict.matches,
                verdict.words,
            )
            for verdict in verdicts
        ),
        other_policies=len(subject.policies.propagation) - len(verdicts),
        hints=tuple(subject.label_hints(outcome)),
        due=outcome.due,
        left=outcome.left,
        required_by=encode(memory.schedule.required_by),
        status=scheduling_status(outcome.decision, memory),
    )


def complaints(status: Mapping[str, Any]) -> Iterator[tuple[str, list[str]]]:
    """Yield the members of a template on which not all is well, each with the reasons.

    Args:
        status: the status of the binding.
    """
    for item in status.get("aggregatedStatus") or ():
        wrong = [] if item.get("applied") else [item.get("appliedMessage") or "is not applied yet"]
        wrong += [f"is {item['health']}"] if item.get("health") == "Unhealthy" else []
        if item.get("clusterName") and wrong:
            yield item["clusterName"], wrong


def binding_of(template: ObjectKey, listing: Listing) -> Object | None:
    """Return the binding of a template; None if there is none."""
    bindings = (data for kind in BINDINGS for data in listing.all(kind, WORK_GROUP))
    return next((binding for binding in bindings if _is_of(binding, template)), None)


def _is_of(binding: Object, template: ObjectKey) -> bool:
    resource = (binding.get("spec") or {}).get("resource") or {}
    group = str(resource.get("apiVersion", "")).rpartition("/")[0]
    asked = (group, resource.get("kind"), resource.get("namespace") or "", resource.get("name"))
    return asked == (template.group, template.kind, template.namespace, template.name)
