"""Releases of KubeFleet, and the rules in which they differ.

Code that decides by such a rule asks a release for it: ``release.has(Rule.EMPTY_STAGES_SKIPPED)``.
Every rule is named after what the later release does, and is one change of kubefleet-dev/kubefleet.

Source: the tag v0.3.1 (2026-04-17), and the main branch of 2026-08-20 (e160c1cd).
"""

from __future__ import annotations

import re

from fleet_components.model.release import ReleaseChange, ReleaseRule, ReleaseTable

_TAG = re.compile(r":v?([0-9]+\.[0-9]+\.[0-9]+)(@|$)")
_MAIN = "main-2026-08"


class Rule(ReleaseRule):
    """A rule that some releases of KubeFleet have, and others do not."""

    EMPTY_STAGES_SKIPPED = ReleaseChange(
        "#609",
        _MAIN,
        "a stage without clusters asks for its approvals and keeps its waits",
        "a stage without clusters is skipped with its tasks",
    )
    FAILURES_TYPED = ReleaseChange(
        "#621",
        _MAIN,
        "a metric counts update runs by their status",
        "the metric also has the type of a failure; texts in statuses are the same",
        "metrics of a hub are not forecast",
    )
    STAGED_NEVER_PLACED = ReleaseChange(
        "#631",
        _MAIN,
        "StagedUpdateRun, StagedUpdateStrategy and ApprovalRequest objects are placed as"
        " others are",
        "they are never placed",
        "they are never placed here; a warning names what a hub would hand out",
    )
    WORK_NAMES_HASHED = ReleaseChange(
        "#665",
        _MAIN,
        "the Work of an envelope has a random name; statuses show the name of the envelope in its"
        " place",
        "its name ends in a hash of the kind, namespace and name of the envelope",
    )
    SNAPSHOT_LOOKED_UP = ReleaseChange(
        "#667",
        _MAIN,
        "an update run without a policy snapshot says: no latest policy snapshot associated with"
        " the placement",
        "it says: no latest policy snapshot found for placement",
        "a decided placement has a snapshot, so neither is seen",
    )
    PROPERTY_SELECTORS_STRICT = ReleaseChange(
        "#668",
        _MAIN,
        "requirements of a property selector that no member can meet are accepted",
        "they are refused, and refusals name the property",
    )
    PENDING_NOT_FAILED = ReleaseChange(
        "#670",
        _MAIN,
        "a binding has failed once a condition is False",
        "it has not where the reason is OverriddenPending, WorkNotSynchronizedYet, ApplyPending or "
        "ResourceNotAvailableYet",
    )
    OVERRIDE_FAILURES_NAMED = ReleaseChange(
        "#686",
        _MAIN,
        "the message of a failed override is the error alone",
        "it names the snapshot of the override and the object",
        "statuses here name the override, the member and the object, and hide values",
    )
    WAIT_TIMES_STRICT = ReleaseChange(
        "#688",
        _MAIN,
        "a waitTime that begins with 0, or ends in a time, is stored: 0, 01h; a plan refuses what"
        " no controller reads",
        "a waitTime is hours, minutes and seconds, each with its unit, and no number has a leading"
        " zero",
    )
    SELECTORS_OF_NAMESPACE_IN_V1 = ReleaseChange(
        "#697",
        _MAIN,
        "selectionScope: NamespaceWithResourceSelectors exists in v1beta1 alone",
        "it exists in v1 as well",
    )
    NO_NAMES_PICKED = ReleaseChange(
        "#719",
        _MAIN,
        "a ClusterResourcePlacement of type PickFixed without clusterNames is refused",
        "it is accepted, and picks nobody",
    )
    PLACEMENTS_CHECKED_BY_SCHEMA = ReleaseChange(
        "#751",
        _MAIN,
        "webhooks alone check which fields go together, which hubs ask for"
        " ClusterResourcePlacements only",
        "the definitions check it: fields of a placementType, tolerations, sortOrder,"
        " whenUnsatisfiable, and name beside labelSelector",
    )
    WORK_TEXT_CORRECTED = ReleaseChange(
        "#763",
        _MAIN,
        "a placement says: Works(s) are succcesfully created or updated",
        "it says: Work(s) are successfully created or updated",
    )
    OVERRIDES_IN_ENVELOPES = ReleaseChange(
        "#774",
        _MAIN,
        "overrides select, patch and delete envelopes, and never what is in them",
        "overrides select, patch and delete what is in envelopes, and never the envelopes",
    )


TABLE = ReleaseTable("kubefleet", "KubeFleet", ("0.3.1", _MAIN), "0.3.1", Rule)
"""The known releases."""
RELEASES = {name: TABLE.named(name) for name in TABLE.names}
"""The known releases by name, the oldest first."""
RELEASE = TABLE.named()
"""The release that counts where none is named."""


def release_of(image: str) -> str:
    """Return the name of the release that a container image is tagged with; empty if the tag is
    none.

    Args:
        image: the image of a hub agent, as ``ghcr.io/kubefleet-dev/kubefleet/hub-agent:v0.3.1``.
    """
    tag = _TAG.search(image)
    return tag.group(1) if tag else ""
