"""Writes ``docs/fields.md``, the fields that are not carried out: ``python -m tools.fields``."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from itertools import groupby

import attrs

from fleet_components.admission import KINDS
from fleet_components.content.conditional_defaults import NAME_LABEL
from fleet_components.content.strip import LAST_APPLIED
from fleet_components.model.codec import camel
from fleet_components.model.release import ReleaseChange, ReleaseTable
from fleet_components.plan.effect import Effect, Unheeded
from fleet_components.plan.effects import ALL, EFFECTS
from fleet_components.systems.karmada.content.prune import ACCOUNT_UID, JOB_LABELS, SELECTED_NODE
from fleet_components.systems.karmada.model.release import TABLE as KARMADA
from fleet_components.systems.karmada.model.release import Rule as KarmadaRule
from fleet_components.systems.karmada.plan.content import CONFLICT_RESOLUTION, RETAIN_REPLICAS
from fleet_components.systems.karmada.plan.templates import PROTECTED_LABEL, SKIP_AUTO_PROPAGATION
from fleet_components.systems.karmada.scheduler.matching import CLAIMED_BY_LABEL
from fleet_components.systems.kubefleet.content.select import OLD_ENVELOPE
from fleet_components.systems.kubefleet.model.member_cluster import MEMBER_NAME_LABEL
from fleet_components.systems.kubefleet.model.release import TABLE as KUBEFLEET
from fleet_components.systems.kubefleet.model.release import Rule

_CARRIED_OUT, _NO_EFFECT, _NOT_NEEDED = "carried out", str(Effect.NONE), str(Effect.NOT_NEEDED)
_NAMES = tuple(dict.fromkeys(kind.name for kind in KINDS.values()))
_PAGE = """\
# Fields that are not carried out

Written by `make docs` from the table that every plan goes by.

Of the kinds of KubeFleet and Karmada that steer a fleet every field is carried out, but for those
below. What asks for other members, another content or another deletion than a plan makes is
**refused**, with file, line and what to do instead. What bears on none of these has **no effect**,
and is a warning. What is **not needed** passes in silence: it asks for what happens anyway, or for
what an API server or a hub keeps for itself. A value that equals the default of the API asks for
nothing.

Through a hub, and in the forecast of one that was observed, nothing of this is refused: **on a
hub** says what the hub does with it. "All kinds" are those that are carried out. Kinds that are not
here and would steer a fleet are refused as a whole; what hubs make themselves, as snapshots,
bindings and works, is passed over and counted.
"""

_RELEASES = """\
## Releases of {title}

{subjects} are decided by the rules of one release: {known}. `fleet:{setting}`,
`FleetArgs.{setting}`, and `--{setting}` of a command name it. Without them it is that of an
observed hub, or of the last update, and otherwise {default}.
"""
_KUBEFLEET = """\
`fleet observe` reads the release of a hub from the image of its agent. A hub of Azure shows no
agent: an observation says that its release is not known. `main-2026-08` is the main branch of
2026-08-20 (e160c1cd).

These are the rules in which they differ, each a pull request of kubefleet-dev/kubefleet. What
guards a hub against its users (#682, #702, #708) and what a hub counts in metrics decides nothing,
and is not here. The checks of a ResourcePlacement are those of its webhook under each release,
though hubs do not ask it.
"""
_KARMADA = """\
A control plane does not show its release: `fleet observe --karmada` names it. Each stands for its
newest patch; before 1.17.2 a member of a divided Job may get the completions of another member
(#7387).

These are the rules in which they differ, of all that a plan goes by. Interpreters of third-party
kinds, as that of FlinkDeployment, change with releases: plans have those of 1.19.
"""


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


def page() -> str:
    """Return the whole page."""
    parts = [_PAGE]
    for kinds, alike in groupby(sorted(EFFECTS, key=_order), key=lambda entry: entry.kinds):
        entries = list(alike)
        on_hub = any(entry.on_hub for entry in entries)
        rows = [_row(entry, on_hub=on_hub) for entry in entries]
        head = ("field", "", "why", "on a hub") if on_hub else ("field", "", "why")
        parts.append(f"## {_kinds_text(kinds)}\n\n{table(head, rows)}")
    marks = ((f"`{mark.name}`", mark.system, mark.effect, mark.reason) for mark in OBJECT_MARKS)
    head = ("label or annotation", "system", "", "why")
    parts.append(f"## Labels and annotations of objects\n\n{table(head, marks)}")
    parts.append(_releases(KUBEFLEET, "Placements", _KUBEFLEET, (rule.value for rule in Rule)))
    parts.append(_releases(KARMADA, "Templates", _KARMADA, (rule.value for rule in KarmadaRule)))
    parts.append("All other fields are carried out, or refused as the API servers refuse them.\n")
    return "\n".join(parts)


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table in Markdown; the cells of its rows are escaped."""
    escaped = ([cell.replace("|", "\\|").replace("<", "&lt;") for cell in row] for row in rows)
    titles = f"| {' | '.join(head)} |".replace("|  |", "| |")
    lines = (f"| {' | '.join(row)} |" for row in (["---"] * len(head), *escaped))
    return "".join(f"{line}\n" for line in (titles, *lines))


def _releases(
    releases: ReleaseTable, subjects: str, about: str, changes: Iterable[ReleaseChange]
) -> str:
    """Return the part of the page about the rules in which releases of a system differ."""
    text = _RELEASES.format(
        title=releases.title,
        setting=releases.setting,
        default=releases.default,
        known=", ".join(releases.names),
        subjects=subjects,
    )
    rows = (
        (change.source, change.since, change.before, change.after, change.left or "the same")
        for change in changes
    )
    head = ("change", "since", "before", "after", "here")
    return f"{text}\n{about}\n{table(head, rows)}"


def _order(entry: Unheeded) -> tuple[int, list[int]]:
    """Return a sort key: entries of one or two kinds come first, then kinds in the order of their
    systems.
    """
    return len(entry.kinds) > 2, [_NAMES.index(kind) for kind in entry.kinds]


def _kinds_text(kinds: Sequence[str]) -> str:
    """Return the kinds in words, or those that are missing if that list is shorter."""
    left = [kind for kind in _NAMES if kind in ALL and kind not in kinds]
    if len(left) >= len(kinds):
        return ", ".join(kinds)
    return f"All kinds but {', '.join(left)}" if left else "All kinds"


def _row(entry: Unheeded, *, on_hub: bool) -> list[str]:
    row = [f"`{_place(entry)}`", str(entry.effect), _why(entry)]
    same = "" if entry.effect is Effect.NOT_NEEDED else "the same"
    return [*row, entry.on_hub or same] if on_hub else row


def _place(entry: Unheeded) -> str:
    """Return the field with its values: ``spec.strategy.applyStrategy.type: ReportDiff``."""
    place = entry.field or "all of it"
    if entry.only:
        place += f": {_values(entry.only)}"
    if entry.beside:
        name, pattern = entry.beside
        place += f" beside {name}" + ("" if pattern == "?*" else f": {_values([pattern])}")
    others = entry.always and any(
        other is not entry and other.field == entry.field and set(other.kinds) & set(entry.kinds)
        for other in EFFECTS
    )
    return f"{place}: others" if others else place


def _values(patterns: Sequence[str]) -> str:
    return ", ".join(f"not {text[1:]}" if text.startswith("!") else text for text in patterns)


def _why(entry: Unheeded) -> str:
    if entry.unless:
        return f"{entry.reason}; carried out with {camel(entry.unless)}: true in a KarmadaSettings"
    return f"{entry.reason} ({entry.hint})" if entry.hint else entry.reason


if __name__ == "__main__":
    sys.stdout.write(page())
