"""What is known to differ from the recordings of KubeFleet, and why: rules, each for all recordings."""

from __future__ import annotations

from tests.delivery.kubefleet.behind import unfinished, waits
from tests.delivery.kubefleet.conditions import (
    ahead,
    applies,
    by_hand,
    change_untold,
    conflicts_with_itself,
    drifted,
    entries_in_any_order,
    fails,
    field_left,
    forgotten,
    immutable,
    left,
    moves,
    moves_nothing,
    moving,
    namespace_goes,
    not_synchronized,
    nothing_selected,
    of_nothing,
    on_its_way,
    only_immutable,
    owned_twice,
    pending,
    same_failure,
    silent,
    stuck_at_once,
    taken_over,
    unnamed_binding,
    unopened,
    untold,
)
from tests.delivery.replay import Known

INDEX = r"(\S+ \S+: index(es)?|binding \S+ \S+: resources) "
PLACEMENT = r"(Cluster)?ResourcePlacement \S+( on \S+)?: "
BINDING = r"binding \S+ \S+: "
RUN = r"\S*StagedUpdateRun \S+: "
COPY = r"cluster\d \S+ [^\s:]+: "
HELD = rf"({COPY}|{PLACEMENT}(order|condition|overrides) |{BINDING}(state|resources|only) )"
"""What a hub shows of members that wait, of their placement, and of what is on them."""
KNOWN: tuple[Known, ...] = (
    Known(
        COPY,
        "what others have made or changed on a member is not seen in process",
        "docs/delivery.md#what-stood-before",
        by_hand,
    ),
    Known(
        HELD,
        "an object that has drifted is left alone by itself: its member gets everything else, and others do not wait",
        "docs/delivery.md#drift-that-is-left-alone",
        lambda item: drifted(item) and waits(item),
    ),
    Known(
        HELD,
        "what others have set on a member is not seen in process; an update is refused because of that conflict",
        "docs/delivery.md#apply-strategies",
        lambda item: applies(type="ServerSideApply")(item) and (waits(item) or field_left(item)),
    ),
    Known(
        rf"{PLACEMENT}failedPlacements .*work-api-agent",
        "an agent of KubeFleet conflicts with what it wrote itself, as it wrote it first in another way",
        "pkg/controllers/workapplier/apply.go (KubeFleet 0.3.1)",
        lambda item: applies(type="ServerSideApply")(item) and conflicts_with_itself(item),
    ),
    Known(
        "refused: .*is brought to cluster\\d by .* and .*FailedToTakeOver",
        "two placements of one object are refused, where a hub fails to take over",
        "docs/delivery.md#who-owns-an-object",
        owned_twice,
    ),
    Known(
        "refused: .*the whole scheduling cycle fails on it",
        "a failing cycle refuses the update, where a hub says that scheduling is pending",
        "docs/kubefleet-and-karmada.md#where-we-do-better",
        pending,
    ),
    Known(
        INDEX,
        "an update ends when all stands, and what cannot stand is refused: nothing in between gets an index",
        "docs/delivery.md#what-is-guarded",
        ahead,
    ),
    Known(
        HELD,
        "an override that fails holds its member alone, and others do not wait behind the budget for it",
        "docs/delivery.md#overrides",
        lambda item: fails(item) and waits(item),
    ),
    Known(
        HELD,
        "a member whose agent is silent is reached all the same, and others do not wait for it",
        "docs/delivery.md#after-a-failure",
        lambda item: silent(item) and (waits(item) or unfinished(item)),
    ),
    Known(
        rf"({COPY}|binding \S+ cluster\d: )only there",
        "a member that leaves the fleet is emptied, unless it is marked as lost",
        "docs/delivery.md#a-member-that-is-lost",
        left,
    ),
    Known(
        "takes another update",
        "an update leaves members at its end, so that what needs their room comes with the next one",
        "docs/delivery.md#rollouts-of-several-updates",
        moves,
    ),
    Known(
        rf"({HELD}|{PLACEMENT}entries )",
        "the recording went on while a rolling update was on its way; here each update comes to its end",
        "docs/delivery.md#waves",
        lambda item: (
            on_its_way(item) and (waits(item) or moving(item) or entries_in_any_order(item))
        ),
    ),
    Known(
        rf"({COPY}only here|{HELD})",
        "the recording went on while members waited for what nobody can tell; here each update comes to its end",
        "docs/delivery.md#waves",
        lambda item: untold(item) and waits(item),
    ),
    Known(
        rf"({COPY}only here|{PLACEMENT}selected \[\])",
        "the namespace of an earlier recording was still being deleted on the hub, with what was written into it",
        "pkg/utils/controller/resource_selector_resolver.go (KubeFleet 0.3.1)",
        nothing_selected,
    ),
    Known(
        rf"{PLACEMENT}condition RolloutStarted .*, updateRun: \S+'\), here .* started the rollout process'\)",
        "an update run that is taken out is forgotten, with what it has brought",
        "docs/delivery.md#staged-updates",
        forgotten,
    ),
    Known(
        rf"({HELD}|{PLACEMENT}failedPlacements )",
        "a field that an API server does not change is changed by a replacement, for which no member waits",
        "docs/delivery.md#what-cannot-be-changed-afterwards",
        lambda item: immutable(item) and (waits(item) or unfinished(item) or only_immutable(item)),
    ),
    Known(
        rf"{PLACEMENT}condition Overridden \('False', 'OverriddenFailed'.*, here \('False', 'OverriddenFailed'",
        "an override that fails is told by the name of the override, not by that of its snapshot",
        "docs/delivery.md#overrides",
        same_failure,
    ),
    Known(
        rf"{RUN}resourceSnapshotIndexUsed ",
        "the recording does not tell of every change of the content",
        "pkg/controllers/updaterun/initialization.go (KubeFleet 0.3.1)",
        change_untold,
    ),
    Known(
        rf"{RUN}(conditions|stagesStatus) ",
        "a run fails as soon as another one takes its clusters over, and on a hub when it looks again",
        "docs/delivery.md#staged-updates",
        taken_over,
    ),
    Known(
        rf"{RUN}(conditions|stagesStatus) .*check the status of binding",
        "nothing here has a binding with a name",
        "docs/delivery.md#staged-updates",
        unnamed_binding,
    ),
    Known(
        rf"{RUN}conditions .*'UpdateRunProgressing'.*, here .*'UpdateRunStuck'",
        "a run is stuck as soon as an update has failed, and on a hub after five minutes",
        "pkg/controllers/updaterun/execution.go (KubeFleet 0.3.1)",
        stuck_at_once,
    ),
    Known(
        rf"{RUN}(conditions|stagesStatus) ",
        "a run that brings its clusters what they have counts them as updated, whatever its state",
        "docs/status.md#in-the-form-of-the-apis",
        moves_nothing,
    ),
    Known(
        r"ClusterResourcePlacementEviction \S+: only there",
        "an eviction that names no placement is refused, and has no status",
        "docs/delivery.md#evictions-and-budgets",
        of_nothing,
    ),
    Known(
        rf"({HELD}|{PLACEMENT}condition WorkSynchronized )",
        "an envelope that cannot be opened is refused before anything is sent",
        "docs/delivery.md#what-is-in-an-envelope",
        lambda item: unopened(item) and (waits(item) or not_synchronized(item)),
    ),
    Known(
        rf"{COPY}only here",
        "what a namespace takes along when it goes is not seen",
        "docs/delivery.md#where-a-hub-loses-data",
        namespace_goes,
    ),
)
