"""Rollout strategy of a placement: structure and rules of the CustomResourceDefinition."""

from __future__ import annotations

from fleet_components.admission.schema import flag, int_or_text, integer, rule, struct, text, transition

_AMOUNT = r"^((100|[0-9]{1,2})%|[0-9]+)$"

_ROLLING_UPDATE = struct(
    {
        "maxUnavailable": int_or_text(pattern=_AMOUNT, default="25%"),
        "maxSurge": int_or_text(pattern=_AMOUNT, default="25%"),
        "unavailablePeriodSeconds": integer(minimum=0, default=60),
    },
    go="v1beta1.RollingUpdateConfig",
)

_APPLY = struct(
    {
        "comparisonOption": text(
            enum=("PartialComparison", "FullComparison"),
            default="PartialComparison",
            go="v1beta1.ComparisonOptionType",
        ),
        "whenToApply": text(enum=("Always", "IfNotDrifted"), default="Always", go="v1beta1.WhenToApplyType"),
        "type": text(
            enum=("ClientSideApply", "ServerSideApply", "ReportDiff"),
            default="ClientSideApply",
            go="v1beta1.ApplyStrategyType",
        ),
        "allowCoOwnership": flag(),
        "serverSideApplyConfig": struct({"force": flag()}, go="v1beta1.ServerSideApplyConfig"),
        "whenToTakeOver": text(enum=("Always", "IfNoDiff", "Never"), default="Always", go="v1beta1.WhenToTakeOverType"),
    },
    go="v1beta1.ApplyStrategy",
)

_REPORT_BACK = struct(
    {
        "type": text(
            required=True, enum=("Disabled", "Mirror"), default="Disabled", go="v1beta1.ReportBackStrategyType"
        ),
        "destination": text(enum=("OriginalResource", "WorkAPI"), go="v1beta1.ReportBackDestination", pointer=True),
    },
    go="v1beta1.ReportBackStrategy",
    rules=(
        rule(
            "when reportBackStrategy.type is 'Mirror', a destination must be specified",
            lambda it: it["type"] != "Mirror" or len(it["destination"]) != 0,
            "add destination: OriginalResource",
        ),
    ),
)

_DELETE = struct(
    {"propagationPolicy": text(enum=("Abandon", "Delete"), default="Delete", go="v1beta1.DeletePropagationPolicy")},
    go="v1beta1.DeleteStrategy",
)

STRATEGY = struct(
    {
        "type": text(
            enum=("RollingUpdate", "External"),
            default="RollingUpdate",
            go="v1beta1.RolloutStrategyType",
            rules=(
                transition(
                    "cannot change rollout strategy type from 'External' to other types",
                    lambda it, old: it == "External" or old != "External",
                    "write type: External; only a new placement can be of another type",
                ),
            ),
        ),
        "rollingUpdate": _ROLLING_UPDATE,
        "applyStrategy": _APPLY,
        "deleteStrategy": _DELETE,
        "reportBackStrategy": _REPORT_BACK,
    },
    go="v1beta1.RolloutStrategy",
)
