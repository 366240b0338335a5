"""The document of the fields that are not carried out."""

from __future__ import annotations

from typing import Any

import attrs

from fleet_components.admission import KINDS
from fleet_components.content.conditional_defaults import NAME_LABEL
from fleet_components.content.strip import LAST_APPLIED
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import nearest
from fleet_components.plan.effect import Effect, Unheeded
from fleet_components.plan.effects import ALL, EFFECTS
from fleet_components.review.documents.form import VERSION, Document
from fleet_components.systems.karmada.content.prune import ACCOUNT_UID, JOB_LABELS, SELECTED_NODE
from fleet_components.systems.karmada.plan.content import CONFLICT_RESOLUTION, RETAIN_REPLICAS
from fleet_components.systems.karmada.plan.templates import PROTECTED_LABEL, SKIP_AUTO_PROPAGATION
from fleet_components.systems.karmada.scheduler.matching import CLAIMED_BY_LABEL
from fleet_components.systems.kubefleet.content.select import OLD_ENVELOPE
from fleet_components.systems.kubefleet.model.member_cluster import MEMBER_NAME_LABEL

_CARRIED_OUT, _NO_EFFECT, _NOT_NEEDED = "carried out", str(Effect.NONE), str(Effect.NOT_NEEDED)


@attrs.frozen
class ObjectMark:
    """A label or an annotation.

    Attributes:
        name: its key, or a pattern of keys.
        system: the system that acts on it.
        effect: what becomes of it here.
        reason: what it does, or why it has no effect.
    """

    name: str
    system: str
    effect: str
    reason: str


OBJECT_MARKS = (
    ObjectMark(
        NAME_LABEL,
        "both",
        _CARRIED_OUT,
        "each Namespace has it, whoever wrote the Namespace; selectors see it",
    ),
    ObjectMark(
        LAST_APPLIED,
        "both",
        _CARRIED_OUT,
        "members do not get it: a copy of the object; Karmada sends it, and nothing reads it there",
    ),
    ObjectMark(
        "deployment.kubernetes.io/revision, .../revision-history",
        "both",
        _CARRIED_OUT,
        "members do not get the first, and of a template of Karmada neither: each cluster counts"
        " its own",
    ),
    ObjectMark(
        ", ".join(JOB_LABELS),
        "both",
        _CARRIED_OUT,
        "a Job without `manualSelector` loses those with the uid, and of Karmada all: each cluster"
        " sets its own",
    ),
    ObjectMark(
        MEMBER_NAME_LABEL,
        "KubeFleet",
        _CARRIED_OUT,
        "each MemberCluster has it, with its name; affinities, overrides and stages see it",
    ),
    ObjectMark(
        OLD_ENVELOPE,
        "KubeFleet",
        _NO_EFFECT,
        "a ConfigMap is not an envelope since v0.3; a warning names the successor",
    ),
    ObjectMark(
        "endpointslice.kubernetes.io/managed-by",
        "KubeFleet",
        _CARRIED_OUT,
        "an EndpointSlice with it is not placed: each cluster makes its own",
    ),
    ObjectMark(
        "kubernetes-fleet.io/is-fleet-resource",
        "KubeFleet",
        _NOT_NEEDED,
        "the hub guards its own objects with it",
    ),
    ObjectMark(
        "kubernetes-fleet.io/spec-hash, .../last-applied-configuration",
        "KubeFleet",
        _NOT_NEEDED,
        "agents remember in them what they have applied; the state does",
    ),
    ObjectMark(
        SKIP_AUTO_PROPAGATION,
        "Karmada",
        _CARRIED_OUT,
        "keeps a Namespace from where it is only needed",
    ),
    ObjectMark(
        PROTECTED_LABEL,
        "Karmada",
        _CARRIED_OUT,
        "the removal of the object is refused without a token",
    ),
    ObjectMark(
        RETAIN_REPLICAS, "Karmada", _CARRIED_OUT, "members keep the replicas that they have"
    ),
    ObjectMark(
        CLAIMED_BY_LABEL,
        "Karmada",
        _CARRIED_OUT,
        "no policy takes an object that another owner has",
    ),
    ObjectMark(
        CONFLICT_RESOLUTION, "Karmada", _CARRIED_OUT, "beats the conflictResolution of the policy"
    ),
    ObjectMark(
        "propagationpolicy.karmada.io/*, clusterpropagationpolicy.karmada.io/*",
        "Karmada",
        _CARRIED_OUT,
        "marks of the claim: claimed objects have them when overrides apply, and members do not get"
        " them",
    ),
    ObjectMark(
        SELECTED_NODE,
        "Karmada",
        _CARRIED_OUT,
        "members do not get it: the node is one of the control plane's cluster",
    ),
    ObjectMark(
        ACCOUNT_UID,
        "Karmada",
        _CARRIED_OUT,
        "members do not get it, nor the data of the token Secret that has it",
    ),
    ObjectMark(
        "karmada.io/managed, karmada.io/system",
        "Karmada",
        _NOT_NEEDED,
        "Karmada marks what it manages; the state says what is managed",
    ),
    ObjectMark(
        "resourcetemplate.karmada.io/managed-annotations, .../managed-labels, .../uid,"
        " .../generation",
        "Karmada",
        _NOT_NEEDED,
        "Karmada remembers in them what it has written, and of what; the state does",
    ),
    ObjectMark(
        "resourcebinding.karmada.io/*, clusterresourcebinding.karmada.io/*, work.karmada.io/*,"
        " policy.karmada.io/*",
        "Karmada",
        _NOT_NEEDED,
        "all but the one above: Karmada writes them on bindings, Works and what it has sent",
    ),
    ObjectMark(
        "multiclusterservice.karmada.io/*, endpointslice.karmada.io/*,"
        " federatedresourcequota.karmada.io/*",
        "Karmada",
        _NOT_NEEDED,
        "Karmada writes them on what it makes for kinds that are refused here",
    ),
    ObjectMark(
        "resource.karmada.io/*",
        "Karmada",
        _NOT_NEEDED,
        "the search and metrics of Karmada write them on what they answer, which nobody places",
    ),
)
"""Labels and annotations of objects on which KubeFleet v0.3.1 and Karmada 1.19 act, and what
becomes of each here.

Sources: all keys in ``apis`` and ``pkg`` of kubefleet-dev/kubefleet, and in ``pkg`` of
karmada-io/karmada. What a hub of KubeFleet writes on objects of its own alone, such as
``kubernetes-fleet.io/parent-CRP``, is not among them.
"""


def fields_document(kind: str | None = None) -> Document:
    """Return the table of fields of all kinds, or of one kind.

    Raises:
        FleetError: the kind is unknown.
    """
    names = list(dict.fromkeys(item.name for item in KINDS.values()))
    known = {name.casefold(): name for name in names}
    if kind is not None and kind.casefold() not in known:
        meant = nearest(kind, names)
        hint = f"write {meant}" if meant else f"one of {', '.join(names)}"
        raise FleetError(
            [Problem(Message("no-kind", 'there is no kind "{kind}"', kind=kind), hint=hint)]
        )
    name = known[kind.casefold()] if kind else None
    entries = [entry for entry in EFFECTS if name is None or name in entry.kinds]
    return {
        "version": VERSION,
        "kind": name,
        "kinds": names,
        "carriedOut": [item for item in names if item in ALL],
        "fields": [_field(entry, name) for entry in entries],
    }


def _field(entry: Unheeded, kind: str | None) -> dict[str, Any]:
    return {
        "kinds": [kind] if kind else list(entry.kinds),
        "field": entry.field,
        "values": list(entry.only),
        "others": entry.always and any(_alike(other, entry, kind) for other in EFFECTS),
        "beside": dict([entry.beside]) if entry.beside else None,
        "unless": camel(entry.unless) or None,
        "effect": str(entry.effect),
        "reason": entry.reason,
        "onHub": entry.on_hub or None,
        "instead": entry.hint or None,
    }


def _alike(other: Unheeded, entry: Unheeded, kind: str | None) -> bool:
    """Return whether another entry is about some values of the same field."""
    shared = set(other.kinds) & set(entry.kinds)
    return (
        other is not entry
        and other.field == entry.field
        and (kind in shared if kind else bool(shared))
    )
