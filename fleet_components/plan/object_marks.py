"""Labels and annotations of objects on which KubeFleet v0.3.1 and Karmada 1.19 act, and what becomes of each here.

Sources: the constants of ``apis/placement/v1beta1`` and their uses in ``pkg`` of kubefleet-dev/kubefleet; ``pkg/apis``
and ``pkg/util/constants.go`` of karmada-io/karmada. What a hub writes on objects of its own is not among them.
"""

from __future__ import annotations

import attrs

from fleet_components.content.conditional_defaults import NAME_LABEL
from fleet_components.content.select import OLD_ENVELOPE
from fleet_components.plan.karmada.content import CONFLICT_RESOLUTION, RETAIN_REPLICAS
from fleet_components.plan.karmada.templates import PROTECTED_LABEL, SKIP_AUTO_PROPAGATION
from fleet_components.scheduler.karmada.matching import CLAIMED_BY_LABEL

CARRIED_OUT, NO_EFFECT, NOT_NEEDED = "carried out", "no effect", "not needed"


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
    ObjectMark(NAME_LABEL, "both", CARRIED_OUT, "each Namespace has it, whoever wrote the Namespace; selectors see it"),
    ObjectMark(
        OLD_ENVELOPE, "KubeFleet", NO_EFFECT, "ConfigMaps are no envelopes since v0.3; a warning names the successor"
    ),
    ObjectMark(
        "endpointslice.kubernetes.io/managed-by",
        "KubeFleet",
        CARRIED_OUT,
        "an EndpointSlice with it is not placed: each cluster makes its own",
    ),
    ObjectMark(
        "kubernetes-fleet.io/is-fleet-resource", "KubeFleet", NOT_NEEDED, "the hub guards its own objects with it"
    ),
    ObjectMark(SKIP_AUTO_PROPAGATION, "Karmada", CARRIED_OUT, "keeps a Namespace from where it is only needed"),
    ObjectMark(PROTECTED_LABEL, "Karmada", CARRIED_OUT, "the removal of the object is refused without a token"),
    ObjectMark(RETAIN_REPLICAS, "Karmada", CARRIED_OUT, "members keep the replicas that they have"),
    ObjectMark(CLAIMED_BY_LABEL, "Karmada", CARRIED_OUT, "no policy takes an object that another owner has"),
    ObjectMark(CONFLICT_RESOLUTION, "Karmada", CARRIED_OUT, "beats the conflictResolution of the policy"),
    ObjectMark(
        "propagationpolicy.karmada.io/*, clusterpropagationpolicy.karmada.io/*",
        "Karmada",
        CARRIED_OUT,
        "marks of the claim: claimed objects have them when overrides apply, and members do not get them",
    ),
    ObjectMark(
        "karmada.io/managed", "Karmada", NOT_NEEDED, "Karmada marks what it manages; the state says what is managed"
    ),
    ObjectMark(
        "resourcetemplate.karmada.io/managed-annotations, .../managed-labels",
        "Karmada",
        NOT_NEEDED,
        "Karmada remembers in them what it has written; the state does",
    ),
)
"""All of them."""
