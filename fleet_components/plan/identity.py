"""Which cluster a member is: two kubeconfigs that were swapped must not change anything."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

from fleet_components.model.problem import Problem
from fleet_components.plan.guard import loss_token

_OTHER = "leads to another cluster than before: its uid is {new}, and the fleet was brought to {old}"
_HINT = "check the kubeconfig of the member; if the cluster was made anew: pulumi refresh, then fleet:confirm={token}"


def other_cluster(olds: Mapping[str, Any], news: Mapping[str, Any], confirm: Collection[str]) -> Problem | None:
    """Refuse that a member is suddenly another cluster.

    Args:
        olds: what is remembered of the member.
        news: what is said of it now; ``uid`` is missing where the cluster could not be asked.
        confirm: tokens of what is meant.
    """
    old, new = olds.get("uid"), news.get("uid")
    if not old or not new or old == new:
        return None
    token = loss_token(str(news["member"]), [str(old), str(new)])
    if token in confirm:
        return None
    return Problem(_OTHER.format(old=old, new=new), subject=f"member {news['member']}", hint=_HINT.format(token=token))


def same_cluster(members: Mapping[str, Hashable], what: str) -> Iterator[Problem]:
    """Members that are one cluster: each would undo what the other one has.

    Args:
        members: by name, what tells a member's cluster from any other.
        what: how they are found to be the same: ``{other}`` is the member that was there first, ``{by}`` its value.
    """
    first: dict[Hashable, str] = {}
    for name, known_by in members.items():
        if (other := first.setdefault(known_by, name)) != name:
            hint = "declare it once: two names would undo each other"
            yield Problem(what.format(other=other, by=known_by), subject=f"member {name}", hint=hint)


def identity_of(address: str, authority: str) -> str:
    """What tells a cluster from any other by its kubeconfig: a digest of its address and its certificate authority."""
    return hashlib.sha256(f"{address}\n{authority}".encode()).hexdigest()[:16]
