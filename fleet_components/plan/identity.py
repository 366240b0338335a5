"""Check which cluster a member is: Pulumi itself would take swapped kubeconfigs for mere updates of the providers."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterator, Mapping
from typing import Any

from fleet_components.model.problem import Problem
from fleet_components.plan.guard import loss_token

_OTHER = "leads to another cluster than before: its uid is {new}, and the fleet was brought to {old}"
_HINT = (
    "check the kubeconfig of the member; if another cluster has taken the name: fleet:confirm={token}, and what stood "
    "on the other one is made anew here, and left there as it is"
)


def other_cluster(olds: Mapping[str, Any], news: Mapping[str, Any], confirm: Collection[str]) -> Problem | None:
    """Return a refusal if a member is another cluster than before; None if it is not, is unknown, or is confirmed.

    Args:
        olds: what is remembered of the member.
        news: its present properties; ``uid`` is missing if the cluster could not be asked.
        confirm: tokens of intended changes.
    """
    old, new = olds.get("uid"), news.get("uid")
    if not old or not new or old == new:
        return None
    token = loss_token(str(news["member"]), [str(old), str(new)])
    if token in confirm:
        return None
    return Problem(_OTHER.format(old=old, new=new), subject=f"member {news['member']}", hint=_HINT.format(token=token))


def same_cluster(members: Mapping[str, Hashable], what: str) -> Iterator[Problem]:
    """Yield a problem for each member that is the same cluster as an earlier one: both would undo each other's changes.

    Args:
        members: a value that identifies each member's cluster, by name.
        what: the message: ``{other}`` is replaced by the earlier member, ``{by}`` by the common value.
    """
    first: dict[Hashable, str] = {}
    for name, known_by in members.items():
        if (other := first.setdefault(known_by, name)) != name:
            hint = "declare it once: two names would undo each other"
            yield Problem(what.format(other=other, by=known_by), subject=f"member {name}", hint=hint)


def identity_of(address: str, authority: str) -> str:
    """Return a cluster's identity according to its kubeconfig: a digest of its address and certificate authority."""
    return hashlib.sha256(f"{address}\n{authority}".encode()).hexdigest()[:16]
