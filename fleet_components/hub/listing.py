"""Lists of objects, as the API server of a hub answers them, and the requests for them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import cached_property
from typing import Any

import attrs

from fleet_components.model.manifest import Manifest, ObjectKey
from fleet_components.model.text import count, visible
from fleet_components.systems.framework import System

Object = Mapping[str, Any]


@attrs.frozen(order=True)
class Query:
    """A request for the objects of one kind.

    Attributes:
        api_version: ``group/version``, or the version alone for the core group.
        kind: the kind.
        namespace: the namespace in which they are; empty for all of them, and for cluster-scoped
            kinds.
        metadata_only: True to ask for ``metadata`` alone, so that nothing else leaves the hub.
        label: the label that the objects have, as ``key=value``; empty, the default, for all
            objects.
    """

    api_version: str
    kind: str
    namespace: str = ""
    metadata_only: bool = False
    label: str = ""

    @property
    def group(self) -> str:
        """The API group; empty for the core group."""
        return self.api_version.rpartition("/")[0]

    def asks_for(self, key: ObjectKey) -> bool:
        """Return whether an object of that key would be in the answer; one for a label may have
        it.
        """
        return (self.group, self.kind) == (key.group, key.kind) and self.namespace in (
            "",
            key.namespace,
        )


@attrs.frozen
class ServedResource:
    """A kind that a hub serves.

    Attributes:
        api_version: the group and version that the hub prefers.
        kind: the kind.
        plural: its name in paths and roles.
        namespaced: False for cluster-scoped kinds.
    """

    api_version: str
    kind: str
    plural: str
    namespaced: bool


@attrs.frozen(slots=False)
class Listing:
    """All that a hub has answered so far.

    Attributes:
        system: the system that the hub runs.
        as_of: the time of the hub's own clock at which the first answer was given.
        served: the kinds that the hub serves, by group and kind.
        answers: the objects, by request.
        refused: why requests were not answered, in words; a request is in one of the two maps.
        secrets: True if the data of Secrets is asked for.
        release: the release of its system that the hub is said to run; empty for the one that it
            shows.
    """

    system: System
    as_of: datetime
    served: Mapping[tuple[str, str], ServedResource] = attrs.field(factory=dict)
    answers: Mapping[Query, tuple[Object, ...]] = attrs.field(factory=dict, repr=False)
    refused: Mapping[Query, str] = attrs.field(factory=dict)
    secrets: bool = False
    release: str = ""

    def with_answers(
        self, answers: Mapping[Query, tuple[Object, ...]], refused: Mapping[Query, str]
    ) -> Listing:
        """Return the listing with further answers."""
        return attrs.evolve(
            self, answers={**self.answers, **answers}, refused={**self.refused, **refused}
        )

    def lacking(self, queries: Iterable[Query]) -> tuple[Query, ...]:
        """Return those requests that were not made yet, sorted, of kinds that the hub serves."""
        asked = {query for query in queries if (query.group, query.kind) in self.served}
        return tuple(sorted(asked - self.answers.keys() - self.refused.keys()))

    def all(self, kind: str, group: str | None = None) -> tuple[Object, ...]:
        """Return the objects of a kind, sorted by namespace and name; ``group`` None means any."""
        return tuple(
            data for key, data in self._by_kind.get(kind, ()) if group in (None, key.group)
        )

    def object(self, key: ObjectKey) -> Object | None:
        """Return an object; None if no answer has it."""
        return self._by_key.get(key)

    @cached_property
    def _by_key(self) -> Mapping[ObjectKey, Object]:
        found: dict[ObjectKey, Object] = {}
        # Whole objects count more than their metadata.
        for query in sorted(self.answers, key=lambda query: not query.metadata_only):
            found.update((Manifest(answer).key, answer) for answer in self.answers[query])
        return found

    @cached_property
    def _sorted(self) -> tuple[tuple[ObjectKey, Object], ...]:
        return tuple(sorted(self._by_key.items()))

    @cached_property
    def _by_kind(self) -> Mapping[str, list[tuple[ObjectKey, Object]]]:
        found = defaultdict[str, list[tuple[ObjectKey, Object]]](list)
        for key, data in self._sorted:
            found[key.kind].append((key, data))
        # Sorted by namespace and name, whatever the group.
        return {
            kind: sorted(ones, key=lambda pair: (pair[0].namespace, pair[0].name))
            for kind, ones in found.items()
        }

    def __iter__(self) -> Iterator[Object]:
        """Yield all objects, sorted by key."""
        return (data for _, data in self._sorted)


# Requests to a hub that were not answered, in words: the one wording for terminals, documents and
# directories.


FORBIDDEN = "is forbidden to the user of the kubeconfig"
GRANT = "fleet observe --rbac --hub KUBECONFIG | kubectl apply -f -"
"""Command that grants what an observation of a hub asks for."""
LATER = "--timeout SECONDS waits longer; kubectl --kubeconfig FILE get --raw /version tries it"
NOT_ASKED = "is not asked for: --no-secrets"
"""Reason for a list of Secrets that was not to be asked for."""


def in_words(refused: Mapping[Query, str]) -> tuple[str, ...]:
    """Return a line for each kind and reason, sorted: ``Secret in 3 namespaces is not served``.

    Args:
        refused: the reason by request, as :class:`~fleet_components.hub.listing.Listing` has them.
    """
    found: dict[tuple[str, str], list[Query]] = defaultdict(list)
    for query, why in refused.items():
        found[f"{query.kind}{f'.{query.group}' if query.group else ''}", why].append(query)
    return tuple(
        visible(f"{kind}{_where(queries)} {why}") for (kind, why), queries in sorted(found.items())
    )


def missed(refused: Mapping[Query, str]) -> Mapping[Query, str]:
    """Return the requests that were made, and not answered."""
    return {query: why for query, why in refused.items() if why != NOT_ASKED}


def _where(queries: Iterable[Query]) -> str:
    spaces = {query.namespace for query in queries}
    # Of all namespaces, or of a kind that has none.
    if "" in spaces:
        return ""
    return (
        f" in namespace {spaces.pop()}"
        if len(spaces) == 1
        else f" in {count(len(spaces), 'namespace')}"
    )
