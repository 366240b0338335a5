"""Releases of Karmada, and the rules in which they differ, of all that a plan goes by.

A release is named after its minor version and stands for the newest patch of it: before 1.17.2 a
member of a divided Job may get the completions of another member (#7387). Interpreters of
third-party kinds, as that of FlinkDeployment, change with releases; plans have those of 1.19.

Sources: the tags v1.17.0 to v1.17.5, v1.18.0 to v1.18.2, v1.19.0-rc.0, and the main branch of
2026-08-21 (f8fdd02df). ``SchedulingOvercommitProtection`` of 1.18 is an alpha feature that is off
by default.
"""

from __future__ import annotations

from fleet_components.model.release import ReleaseChange, ReleaseRule, ReleaseTable

_VALIDATION = "`pkg/util/validation/validation.go`"


class Rule(ReleaseRule):
    """A rule that some releases of Karmada have, and others do not."""

    ANY_ZONE = ReleaseChange(
        "`matchZones` in `pkg/util/selector.go`, #6431",
        "1.18",
        "a member meets `zone In` if it has zones and all of them are among the values",
        "it does if any of them is",
    )
    OVERFLOW = ReleaseChange(
        "`pkg/scheduler/core/common.go`, #7386, #7423",
        "1.18",
        "there is no `overflowAffinities`: it is refused as an unknown field",
        "an affinity group takes members in addition when its own are full",
    )
    TOLERATIONS_STRICT = ReleaseChange(
        f"`validateClusterTolerations` in {_VALIDATION}, 642965131",
        "1.18",
        "tolerations with the operators `Lt` and `Gt` are stored, and tolerate nothing",
        "they are refused",
    )
    FIELD_OVERRIDERS_STRICT = ReleaseChange(
        f"{_VALIDATION}, e48521526",
        "1.18",
        "a field overrider without `json` and `yaml` is stored, and changes nothing",
        "it is refused",
    )
    PURGE_MODES_RENAMED = ReleaseChange(
        "`pkg/apis/policy/v1alpha1/propagation_types.go`, 2aeae1eea",
        "1.19",
        "`purgeMode` may be `Graciously` or `Immediately` as well",
        "they are refused: write `Gracefully` or `Directly`",
    )


TABLE = ReleaseTable("karmada", "Karmada", ("1.17", "1.18", "1.19"), "1.19", Rule)
"""The known releases."""
