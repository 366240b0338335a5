"""What is known to differ from the recordings of Karmada, and why."""

from __future__ import annotations

import attrs

from tests.delivery.replay import Difference, Known

FOREIGN = "what others made or changed on a member is not seen; the provider's conflict rules decide there"
UNREACHABLE = "a member that cannot be reached fails the update; the replay reaches all of them"
NO_FLAPPING = "no flapping: an evicted Duplicated copy does not come back to be evicted again"
DIRECTLY = "Directly: an update deletes at its end, so the next one makes the new copy"
UNKNOWN_YET = "the control plane had not discovered the new kind yet"
MEMBER_REFUSES = "the member's API server refuses the object, and would fail the update"
RENAMES = "renames leave nothing: the old name goes"
NOT_FOUND = "Karmada does not find the object of a template under another name, and its old status stays"
NOT_COLLECTED = "Karmada does not collect statuses on a member that was away"


@attrs.frozen
class At(Known):
    """A difference that is known after certain steps of one recording.

    Attributes:
        steps: the steps after which it is there.
    """

    steps: tuple[int, ...]

    def covers(self, difference: Difference) -> bool:
        """Whether this is it."""
        return difference.step.number in self.steps and super().covers(difference)


KNOWN = {
    "application_failover": [
        At("member2 Deployment nginx: only there", NO_FLAPPING, (1,)),
        At(
            r"Deployment nginx: clusters \[\('member2', 2\), \('member1', 2\)\], here \[\('member1', 2\)\]",
            NO_FLAPPING,
            (1,),
        ),
        At("member2 of Deployment nginx: only there", NO_FLAPPING, (1,)),
        At("template Deployment nginx: status .*'replicas': 4.*, here .*'replicas': 2", NO_FLAPPING, (1,)),
        At("takes another update", DIRECTLY, (3,)),
    ],
    "binding_status_texts": [At("(binding of |template )?Widget w1: only here", UNKNOWN_YET, (1,))],
    "conflict_template_annotation": [
        At("member1 Deployment nginx: only there", FOREIGN, (0, 3, 5)),
        At("member1 Deployment nginx: labels", FOREIGN, (1,)),
        At("member1 Deployment nginx: (labels|replicas|containers)", FOREIGN, (4,)),
    ],
    "member_drift": [At("member1 Deployment nginx: (labels|annotations)", FOREIGN, (2, 3, 4))],
    "member_outage": [
        At("member4 Deployment nginx: replicas 2", UNREACHABLE, (2, 3, 4, 5, 6)),
        At("member4 Deployment divided: replicas 2", UNREACHABLE, (2, 3)),
        At("member4 Deployment divided: only there", UNREACHABLE, (4, 5, 6)),
        At("member4 of Deployment nginx: health 'Healthy', here 'Unhealthy'", UNREACHABLE, (2, 3, 4, 5, 6)),
        At("member4 of Deployment divided: health 'Healthy', here 'Unhealthy'", UNREACHABLE, (2, 3)),
        At("member4 of Deployment new: health 'Unknown', here 'Healthy'", NOT_COLLECTED, (5, 6)),
        At("member4 of Deployment new: status .*, here .*'replicas': 1", NOT_COLLECTED, (5, 6)),
        At("template Deployment new: status .*'replicas': 3.*, here .*'replicas': 4", NOT_COLLECTED, (5, 6)),
    ],
    "member_refuses_update": [
        At("member1 Deployment nginx: only there", FOREIGN, (0,)),
        At("member1 Deployment nginx: (replicas|podLabels|overwrites)", MEMBER_REFUSES, (1,)),
    ],
    "overrides_field_configmap": [
        At("member1 ConfigMap conf: only there", RENAMES, (3,)),
        At("member1 ConfigMap renamed: only there", RENAMES, (4,)),
        At("binding of ConfigMap conf: FullyApplied .*'False'.*, here .*'True'", NOT_FOUND, (3, 4)),
        At("member1 of ConfigMap conf: (applied None, here True|appliedMessage|health 'Unknown')", NOT_FOUND, (3, 4)),
    ],
    "retain_replicas_label": [At(r"member1 Deployment nginx: replicas 6, here 2", FOREIGN, (1, 2))],
    "retained_fields": [
        At("member1 ServiceAccount sa1: secrets", FOREIGN, (2, 3)),
    ],
}
"""By recording."""
REFUSED = {"cluster_taint_policy": ("ClusterTaintPolicy", "ClusterTaintPolicy is not carried out by this version")}
"""Kinds that we refuse, and how; the recordings are replayed without them, with the taints that came of them."""
UNHEALTHY = {"application_failover": ("member2",)}
"""The members on which the application does not work."""
