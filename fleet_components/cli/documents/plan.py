"""The plan as a document: what all renderers show, and what ``-o json`` and ``-o yaml`` print.

Its form is described in ``docs/plan-document.md``; keys are stable.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fleet_components.cli.documents.form import VERSION, WORDS, Document
from fleet_components.cli.documents.status import cluster_decisions, placement_status
from fleet_components.cli.documents.template import template_document
from fleet_components.cli.planning.difference import HIDDEN, Difference, differences
from fleet_components.cli.planning.planned import Decided, Planned
from fleet_components.cli.planning.resource import CHANGES
from fleet_components.cli.planning.survey import Survey
from fleet_components.content.secret import SECRET_FIELDS, is_secret
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.placement import PICK_ALL, PICK_N
from fleet_components.rollout.describe import describe
from fleet_components.rollout.plan import Change, Entry
from fleet_components.scheduler.explain import MemberExplanation

MOST_NOT_PICKED = 20


def plan_document(surveyed: Survey) -> Document:
    """The plan of a fleet."""
    planned = surveyed.planned
    placements = [_placement(decided, _clashing(planned, decided.name)) for decided in planned.placements]
    templates = [template_document(decided, _clashing(planned, decided.name)) for decided in planned.templates]
    as_of = planned.inventory.as_of
    return {
        "version": VERSION,
        "fleet": surveyed.subject,
        "state": surveyed.past.file or None,
        "asOf": as_of.isoformat() if as_of else None,
        "members": len(planned.inventory),
        "placements": placements,
        **({"templates": templates} if templates else {}),
        **_of_a_project(surveyed),
        "totals": {**totals([*placements, *templates]), **_counted(surveyed)},
    }


def totals(placed: Iterable[Document]) -> Document:
    """How often each change happens, over all placements and templates."""
    changes = Counter(cluster["change"] for one in placed for cluster in one["clusters"])
    return {word: changes[word] for word in WORDS.values()}


def _of_a_project(surveyed: Survey) -> Document:
    if surveyed.resources is None:
        return {}
    return {
        "resources": [resource.to_wire() for resource in surveyed.resources],
        "messages": [{"level": level, "text": text} for level, text in surveyed.messages],
    }


def _counted(surveyed: Survey) -> Document:
    """What happens to how many resources of a project; None where there is nothing to compare with."""
    if surveyed.resources is None:
        return {}
    counted = Counter(resource.change for resource in surveyed.resources)
    return {"resources": None if "" in counted else {change: counted[change] for change in CHANGES}}


def _placement(decided: Decided, clashes: list[str]) -> Document:
    old, new = decided.before.revision, decided.outcome.record.revision
    status = decided.outcome.decision.status
    return {
        "kind": decided.kind,
        "key": decided.key,
        "source": decided.place or None,
        "policy": _policy(decided),
        "revision": {"old": old if old >= 0 else None, "new": new},
        "objects": len(decided.request.objects),
        "content": content_changes(decided),
        "clusters": _clusters(decided),
        "notPicked": _not_picked(decided),
        "rollout": list(describe(decided.outcome.rollout)),
        "warnings": [*decided.warnings, *clashes],
        "skipped": [{"object": name, "why": why} for name, why in decided.skipped],
        "status": {**placement_status(decided, status), "clusterDecisions": cluster_decisions(status)},
    }


def _policy(decided: Decided) -> str:
    """``PickN 3 of 5 members``; where there are fewer, ``PickN 3 (the fleet has only 2 members)``."""
    policy, members = decided.request.policy, len(decided.request.inventory)
    kind = policy.placement_type if policy else PICK_ALL
    if policy is None or kind == PICK_ALL:
        return f"{kind} of {_members(members)}"
    wanted = policy.number_of_clusters or 0 if kind == PICK_N else len(policy.cluster_names)
    if wanted > members:
        return f"{kind} {wanted} (the fleet has only {_members(members)})"
    return f"{kind} {wanted} of {_members(members)}"


def _members(number: int) -> str:
    return f"{number} member{'' if number == 1 else 's'}"


def content_changes(decided: Decided) -> list[Document] | None:
    """What changes in the objects; None when the old ones are not known."""
    before = decided.before
    if before.revision in (-1, decided.outcome.record.revision):
        return []
    old = before.contents.get(before.revision)
    if old is None:
        return None
    was, now = ({Manifest(data).key: data for data in objects} for objects in (old, decided.request.objects))
    changes = [_content("create", key) for key in sorted(now.keys() - was.keys())]
    changes += [_content("delete", key) for key in sorted(was.keys() - now.keys())]
    for key in sorted(was.keys() & now.keys()):
        fields = [_masked(difference, now[key]).to_wire() for difference in differences(was[key], now[key])]
        changes += [_content("update", key, fields)] if fields else []
    return changes


def _content(change: str, key: ObjectKey, fields: Sequence[Document] = ()) -> Document:
    return {"object": str(key), "change": change, "fields": list(fields)}


def _masked(difference: Difference, data: Mapping[str, Any]) -> Difference:
    if is_secret(data) and difference.path[:1] and difference.path[0] in SECRET_FIELDS:
        return Difference(difference.path, HIDDEN, HIDDEN)
    return difference


def _clusters(decided: Decided) -> list[Document]:
    """Every member concerned: what changes first, wave by wave; then who is held, who leaves and who stays."""
    entries = decided.outcome.rollout.entries
    explained = {one.cluster: one for one in decided.explain(entries)}
    order = {change: rank for rank, change in enumerate(WORDS)}
    moves = (Change.ADD, Change.UPDATE)

    def key(item: tuple[str, Entry]) -> tuple[int, int, str]:
        name, entry = item
        wave = entry.placed.wave if entry.placed and entry.change in moves else 0
        return (0 if entry.change in moves else order[entry.change], wave, name)

    return [_cluster(decided, name, entry, explained.get(name)) for name, entry in sorted(entries.items(), key=key)]


def _cluster(decided: Decided, name: str, entry: Entry, explained: MemberExplanation | None) -> Document:
    binding, placed = decided.bindings.get(name), entry.placed
    scored = binding is not None and binding.affinity_score is not None
    moves = placed is not None and entry.change in (Change.ADD, Change.UPDATE)
    return {
        "name": name,
        "change": WORDS[entry.change],
        "wave": placed.wave if placed and moves else None,
        "rank": placed.rank if placed else None,
        "revision": {"old": decided.old_revision(name), "new": placed.revision if placed else None},
        "scores": {"affinity": binding.affinity_score, "topologySpread": binding.topology_spread_score}
        if binding and scored
        else None,
        "why": entry.reason or (_why(explained) if explained else ""),
    }


def _why(explained: MemberExplanation) -> str:
    """Why it is picked, in the words of the plug-ins; or why it is not."""
    if not explained.selected:
        return explained.summary
    failing = [verdict.words for verdict in explained.verdicts if verdict.passed is False]
    if failing:
        return f"stays although {failing[0]}"
    if explained.verdicts[:1] and explained.verdicts[0].plugin == "ClusterNames":
        return explained.verdicts[0].words
    return "; ".join(verdict.words for verdict in explained.verdicts if verdict.score) or "passes every filter"


def _not_picked(decided: Decided) -> Document:
    """The members that have nothing to do with the placement: how many, and why of those that tell most."""
    entries, names = decided.outcome.rollout.entries, decided.request.inventory.names
    others = [name for name in names if name not in entries]
    # The API's own choice comes first; it also names members that are wanted and do not exist.
    told = {
        d.cluster_name: d.reason for d in decided.outcome.decision.status.decisions if d.cluster_name not in entries
    }
    shown = list(dict.fromkeys([*told, *others]))[:MOST_NOT_PICKED]
    explained = {one.cluster: one.summary for one in decided.explain(set(shown))}
    unknown = len(told.keys() - set(others))
    return {
        "count": len(others) + unknown,
        "shown": [{"name": name, "why": explained.get(name) or told[name]} for name in shown],
    }


def _clashing(planned: Planned, brought_by: str) -> list[str]:
    """One warning per object and those who bring it, with the members that it concerns."""
    found: dict[tuple[str, str], list[str]] = {}
    for (cluster, key), names in planned.clashes.items():
        if brought_by in names:
            others = ", ".join(name for name in names if name != brought_by)
            found.setdefault((str(key), others), []).append(cluster)
    return [
        f"{key} is brought to {_listed(clusters)} by {others} too: a member takes it from one of them only"
        for (key, others), clusters in found.items()
    ]


def _listed(names: list[str], most: int = 3) -> str:
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")
