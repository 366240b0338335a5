"""Asks a hub: what it runs, and for all lists that an observation of it needs. Nothing is written
there.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import attrs

from fleet_components.content.secret_text import is_secret_kind
from fleet_components.hub.listing import LATER, NOT_ASKED, Listing, Object, Query
from fleet_components.hub.reading import STEERING, check_essential, missing
from fleet_components.live.at_once import at_once
from fleet_components.live.failures import CHECK_SERVER, NOT_KUBERNETES
from fleet_components.live.getting import Getter, UnansweredError, Unreachable, getter
from fleet_components.live.kubeconfig import endpoint_of
from fleet_components.live.lists import Served, objects_of, served_by
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.text import count, few, visible
from fleet_components.model.watch import Watch, unwatched
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

_AT_ONCE = 8
_MOST_NAMESPACES = 8
"""Of a kind in more namespaces, the objects of all namespaces are asked for at once."""
HUB = "the hub"


def ask_hub(
    kubeconfig: str,
    *,
    secrets: bool = False,
    no_secrets: bool = False,
    partly: bool = False,
    timeout: float = 120.0,
    watch: Watch = unwatched,
) -> Listing:
    """Ask a hub for all that an observation needs.

    Args:
        kubeconfig: the text of a kubeconfig.
        secrets: True to ask for the data of Secrets.
        no_secrets: True not to ask for Secrets, not even for their names.
        partly: True to return a listing, too, that lacks what steers the hub.
        timeout: limit for the whole call, in seconds.
        watch: reports how many lists have come.

    Raises:
        FleetError: the hub cannot be asked, runs neither system, or does not answer for what steers
            it.
    """
    try:
        with getter(kubeconfig, timeout) as hub:
            with watch("asking the hub what it serves"):
                served = hub.within(lambda: served_by(hub))
            if hub.date is None:
                raise _wrong(
                    Message(
                        "does-not-tell-time",
                        "does not tell the time in its answers, as API servers do: something stands"
                        " between",
                    )
                )
            listing = Listing(system_of(served), hub.date, served, secrets=secrets)
            # Answers lead to further requests, for the objects that placements select for example.
            while queries := missing(listing):
                asked = tuple(
                    query for query in queries if not (no_secrets and is_secret_kind(query.kind))
                )
                left_out = dict.fromkeys(set(queries) - set(asked), NOT_ASKED)
                listing = listing.with_answers(*_answers(hub, listing, asked, watch)).with_answers(
                    {}, left_out
                )
                if not partly:
                    check_essential(listing)
            return listing
    except Unreachable as error:
        raise _at(
            kubeconfig,
            _wrong(Message("cannot-asked", "cannot be asked: {error}", error=error), error.hint),
        ) from None
    except UnansweredError as error:
        hint = error.hint or (CHECK_SERVER if error.what == NOT_KUBERNETES else LATER)
        raise _at(
            kubeconfig,
            _wrong(
                Message("served-kinds-unreadable", "what it serves {what}", what=error.what), hint
            ),
        ) from None
    except FleetError as error:
        raise _at(kubeconfig, error) from None


def _at(kubeconfig: str, error: FleetError) -> FleetError:
    """Return an error with the context and the address of the hub in place of its bare name."""
    where = endpoint_of(kubeconfig)
    return FleetError(
        (
            attrs.evolve(problem, subject=f"{HUB} ({where})")
            if where and problem.subject == HUB
            else problem
        )
        for problem in error.problems
    )


def system_of(served: Served) -> System:
    """Return the system of the hub that serves these kinds.

    Raises:
        FleetError: it runs none, or both.
    """
    found = [system for system in SYSTEMS.values() if all(mark in served for mark in system.SERVED)]
    if len(found) == 1:
        return found[0]
    groups = sorted({group for group, _ in served if group.endswith(STEERING)})
    if found:
        what = Message(
            "serves-kinds-kubefleet-karmada",
            "serves the kinds of KubeFleet and of Karmada, and one directory has one of them",
        )
        raise _wrong(what, "ask the two control planes by kubeconfigs of their own")
    lacking = {
        system: [mark for mark in system.SERVED if mark not in served]
        for system in SYSTEMS.values()
    }
    # A system of which some kinds are served, but not all.
    partly = next(
        (system for system, marks in lacking.items() if len(marks) < len(system.SERVED)), None
    )
    if partly:
        names = few([f"{kind}.{group}" for group, kind in lacking[partly]])
        hint = (
            "is an API server of its own away? kubectl get apiservices tells"
            if partly.AGGREGATED
            else _OTHER
        )
        raise _wrong(
            Message(
                "not-whole-hub-not",
                "is not a whole {partly} hub: {names} is not served",
                partly=partly,
                names=names,
            ),
            hint,
        )
    if groups:
        raise _wrong(
            Message(
                "not-hub-but-do",
                "is not a hub, but has to do with one: it serves {groups}",
                groups=few(groups),
            ),
            _OTHER,
        )
    known = [f"{group or 'v1'}" for group in sorted({group for group, _ in served})]
    what = Message(
        "not-hub-kubefleet-azure",
        "is not a hub of KubeFleet, Azure Fleet Manager or Karmada: it serves {known}",
        known=visible(few(known)),
    )
    raise _wrong(what, "--members KUBECONFIG observes plain clusters")


_OTHER = (
    "members serve kinds of their hub, too: give the kubeconfig of the hub, or --members for plain"
    " clusters"
)


def _answers(
    hub: Getter, listing: Listing, queries: tuple[Query, ...], watch: Watch
) -> tuple[Mapping[Query, tuple[Object, ...]], Mapping[Query, str]]:
    """Return the objects by request, and the reason by request that was not answered."""
    found: dict[Query, tuple[Object, ...]] = {}
    refused: dict[Query, str] = {}

    def ask(query: Query) -> tuple[Object, ...]:
        return hub.within(lambda: objects_of(hub, query, listing.served[query.group, query.kind]))

    def ask_alone(asked: Sequence[Query]) -> None:
        for query in asked:
            try:
                found[query] = ask(query)
            except UnansweredError as error:
                refused[query] = error.what

    def ask_together(asked: Sequence[Query]) -> None:
        everywhere: dict[str, list[Object]] = defaultdict(list)
        try:
            for data in ask(attrs.evolve(asked[0], namespace="")):
                everywhere[data["metadata"]["namespace"]].append(data)
            found.update((query, tuple(everywhere[query.namespace])) for query in asked)
        except UnansweredError:
            # The user may be allowed to list in single namespaces only, or all of them may be too
            # much.
            ask_alone(asked)

    parts = _parts(listing, queries)
    # A part of several requests is for one kind in many namespaces.
    done = at_once(
        (partial(ask_together if part[1:] else ask_alone, part) for part in parts), _AT_ONCE
    )
    for number in range(len(parts)):
        # Copies, because threads add to it meanwhile.
        objects = sum(map(len, [*list(found.values()), *listing.answers.values()]))
        # They are begun in their order.
        begun = [
            part[0].kind for part in parts if part[-1] not in found and part[-1] not in refused
        ][:_AT_ONCE]
        answers = (
            f"asking the hub: {number} of {count(len(parts), 'list')}, {count(objects, 'object')}"
        )
        with watch(f"{answers}, waiting for {few(list(dict.fromkeys(begun)), 3)}"):
            next(done)
    return found, refused


def _parts(listing: Listing, queries: Iterable[Query]) -> list[tuple[Query, ...]]:
    """Return the requests, those for one kind in many namespaces together."""
    by_kind: dict[Query, list[Query]] = defaultdict(list)
    for query in queries:
        by_kind[attrs.evolve(query, namespace="")].append(query)
    parts: list[tuple[Query, ...]] = []
    for same in by_kind.values():
        inside = tuple(
            item
            for item in same
            if item.namespace and listing.served[item.group, item.kind].namespaced
        )
        together = inside if len(inside) > _MOST_NAMESPACES else ()
        parts += [together] if together else []
        parts += [(item,) for item in same if item not in together]
    return parts


def _wrong(what: Message, hint: str = "") -> FleetError:
    return FleetError([Problem(what, subject=HUB, hint=hint)])
