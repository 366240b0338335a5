"""Objects as the last update has sent them, from what it has recorded: a refresh of the state does
not change that.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import attrs

from fleet_components.model.cluster import Cluster
from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.plan.past import Past
from fleet_components.plan.record import particulars
from fleet_components.plan.standing import Standing


@attrs.frozen
class Sent:
    """An object that is on a member, or was to stay there.

    Attributes:
        standing: whose it is, and where; without a URN if a refresh of the state has found it gone.
        data: the object as it was sent, without the marks of its stack; None if no record says it:
            they hide it, or the last update broke there.
        left_alone: fields that keep their values on the member, such as ``spec.replicas``.
    """

    standing: Standing
    data: Mapping[str, Any] | None = attrs.field(default=None, repr=False)
    left_alone: tuple[str, ...] = ()


def sent(past: Past) -> Iterator[Sent]:
    """Yield what stands on members, and what a refresh has taken out of the state because somebody
    has deleted it.
    """
    standing = {(item.cluster, item.key) for item in past.standing}
    recorded: dict[tuple[str, str], Mapping[ObjectKey, Sent]] = {}
    for subject, members in past.done.items():
        for cluster in members:
            recorded[subject, cluster] = found = _recorded(past, subject, cluster)
            # A refresh has taken them out of the state; the record of the subject still has them.
            yield from (item for key, item in found.items() if (cluster, key) not in standing)
    for item in past.standing:
        known = recorded.get((item.subject, item.cluster), {}).get(item.key)
        yield attrs.evolve(known, standing=item) if known else Sent(item)


def _recorded(past: Past, subject: str, cluster: str) -> Mapping[ObjectKey, Sent]:
    """Return the objects of a subject on a member; none where the last update broke, or if nothing
    is written.
    """
    record, here = past.records.get(subject), past.done[subject][cluster]
    if record is None or here.revision is None or here.broken or subject in past.reporting:
        return {}
    placed = record.decisions.get(cluster)
    # The binding of a member follows its objects: until then, some may be as they were, and some
    # not.
    if placed and (placed.version != here.version or particulars(placed) != particulars(here)):
        return {}
    objects = record.objects(record.standing(here), Cluster(cluster))
    left_alone = record.left_alone(here.revision)
    manifests = map(Manifest, objects)
    return {
        manifest.key: Sent(
            Standing(subject, cluster, manifest.key, manifest.api_version),
            manifest.data,
            left_alone,
        )
        for manifest in manifests
    }
