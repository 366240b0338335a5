"""Waits until new role assignments reach, in the process of the dynamic providers.

Azure answers "created" at once. Until an assignment reaches, its principal is refused, and neither
provider repeats a request that was refused. Most take up to 10 minutes ("Troubleshoot Azure RBAC"),
those of managed identities up to 60 ("Use managed identities with Azure Kubernetes Fleet Manager",
both Microsoft).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import attrs

from fleet_components.azure.values.checks import LONGEST_ROLE_WAIT
from fleet_components.live.connection import UnexpectedAnswer, connected
from fleet_components.live.credentials import AbsentPlugin
from fleet_components.live.exchange import member_room
from fleet_components.model.text import count

_REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_NEEDED = {"verb": "patch", "group": "cluster.kubernetes-fleet.io", "resource": "memberclusters"}
_ALLOWED = "allowed"


class RolesDoNotReach(Exception):
    """Role assignments that did not reach in the time that they were given."""


@attrs.frozen(kw_only=True)
class RolesWait:
    """A wait for role assignments.

    Attributes:
        roles: role, grantee and scope of each, in words.
        created: when each was created, as Azure writes times; those that it does not tell count as
            new.
        minutes: how long to wait at most.
        kubeconfig: the kubeconfig of a hub, which is asked whether it lets its user taint members;
            None where nobody can be asked: then the time is waited out.
        tell: receives a line about the progress, once a minute.
        minute: seconds in a minute.
        every: seconds between two questions.
    """

    roles: Sequence[str]
    created: Sequence[str | None]
    minutes: float
    kubeconfig: str | None = attrs.field(default=None, repr=False)
    tell: Callable[[str], None] = print
    minute: float = 60.0
    every: float = 10.0

    @property
    def announcement(self) -> str:
        """The roles that are waited for, and how long; empty if all roles are old enough."""
        if self._left <= 0:
            return ""
        bound = f"{'' if self.kubeconfig is None else 'up to '}{_minutes(self._left)}"
        return f"waits {bound} for new roles to reach: {'; '.join(self.roles)}"

    def run(self) -> None:
        """Wait.

        Raises:
            RolesDoNotReach: the hub still refuses at the end.
        """
        if self._left > 0 and self.kubeconfig is not None:
            self._ask(self.kubeconfig)
        elif self._left > 0:
            self._sleep()

    @property
    def _left(self) -> float:
        """The minutes that are left; a hub is not asked about roles that must have reached long
        ago.
        """
        age = min(map(_age, self.created), default=float("inf")) / 60
        # A hub answers for the roles themselves, so their age only excludes roles that must have
        # reached.
        if self.kubeconfig is not None:
            return self.minutes if age < LONGEST_ROLE_WAIT else 0.0
        return self.minutes - age

    def _sleep(self) -> None:
        ends = time.monotonic() + self._left * self.minute
        while (left := ends - time.monotonic()) > 0:
            self.tell(
                f"waiting for roles, {_minutes(left / self.minute)} left; Azure cannot be asked for"
                " them"
            )
            time.sleep(min(left, self.minute))

    def _ask(self, kubeconfig: str) -> None:
        now = time.monotonic()
        ends, next_note = now + self._left * self.minute, now
        while (answer := self._answer(kubeconfig)) != _ALLOWED:
            now = time.monotonic()
            if now >= ends:
                raise RolesDoNotReach(self._failure(answer))
            if now >= next_note:
                self.tell(
                    f"waiting for roles, up to {_minutes((ends - now) / self.minute)} left: the hub"
                    f" {answer}"
                )
                next_note = now + self.minute
            time.sleep(min(self.every, ends - now))

    def _answer(self, kubeconfig: str) -> str:
        """Return :data:`_ALLOWED`, or in words what the hub does instead."""
        try:
            # One question takes no longer than the pause between two, in seconds.
            with connected(
                kubeconfig, time.monotonic() + max(self.every, 1.0), member_room(0)
            ) as hub:
                review = {
                    "apiVersion": "authorization.k8s.io/v1",
                    "kind": "SelfSubjectAccessReview",
                }
                found = hub.ask(
                    "POST", _REVIEWS, {**review, "spec": {"resourceAttributes": _NEEDED}}
                )
        except AbsentPlugin:
            raise RolesDoNotReach(
                "the kubeconfig's credential plugin is not installed: install kubelogin"
            ) from None
        except UnexpectedAnswer as refused:
            return str(refused)
        except Exception:  # noqa: BLE001 - the errors of libraries may quote the kubeconfig
            return "does not answer"
        return _ALLOWED if _allows(found) else "does not let you taint members yet"

    def _failure(self, answer: str) -> str:
        return (
            f"after {_minutes(self.minutes)} the hub still {answer}. Needed:"
            f" {'; '.join(self.roles)}, for whoever its kubeconfig signs in as. See whether that is"
            " the principal of the grant (login of the hub) and whether the hub can be reached"
            f" from here; then run again, or wait longer (roleWait, at most {LONGEST_ROLE_WAIT})"
        )


def _minutes(number: float) -> str:
    return count(max(round(number), 1), "minute")


def _allows(review: Any) -> bool:
    status = review.get("status") if isinstance(review, Mapping) else None
    return isinstance(status, Mapping) and status.get("allowed") is True


def _age(created: str | None) -> float:
    """Return the seconds since a time that Azure wrote; 0 for none."""
    try:
        then = datetime.fromisoformat(created or "")
    except ValueError:
        return 0.0
    # A time without a zone is in UTC.
    return max((datetime.now(UTC) - then.replace(tzinfo=then.tzinfo or UTC)).total_seconds(), 0.0)
