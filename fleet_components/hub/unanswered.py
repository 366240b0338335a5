"""Requests to a hub that were not answered, in words: the one wording for terminals, documents and directories."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from fleet_components.hub.listing import Query
from fleet_components.model.text import count, visible

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
    return tuple(visible(f"{kind}{_where(queries)} {why}") for (kind, why), queries in sorted(found.items()))


def missed(refused: Mapping[Query, str]) -> Mapping[Query, str]:
    """Return the requests that were made, and not answered."""
    return {query: why for query, why in refused.items() if why != NOT_ASKED}


def _where(queries: Iterable[Query]) -> str:
    spaces = {query.namespace for query in queries}
    if "" in spaces:
        return ""
    return f" in namespace {spaces.pop()}" if len(spaces) == 1 else f" in {count(len(spaces), 'namespace')}"
