"""Facts from the state on objects that come to members and are other resources of the stack
already.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import attrs

from fleet_components.components.own_provider import ProviderSettings
from fleet_components.components.past import read_stored
from fleet_components.components.process import in_thread
from fleet_components.content.guarded import read_yaml
from fleet_components.model.message import Message, Phrase
from fleet_components.model.problem import Problem
from fleet_components.plan import names
from fleet_components.plan.names import Urn
from fleet_components.plan.standing import Claim
from fleet_components.plan.state import StoredResource

AskUid = Callable[[str], str | None]
"""Returns the uid of the cluster of a kubeconfig; None if it does not answer."""
_ANEW = Message(
    "engine-delete-make-anew",
    "is {resource}, and the engine would delete it and make it anew on {member}: the provider"
    ' "{provider}" reaches the cluster otherwise than the one of the member',
)
_ANEW_HINT = Phrase(
    'set cluster_identifier="{identifier}" in that provider first, in an update of its own: then an'
    " object moves in place"
)
_RENDERS = "renderYamlToDirectory"


@attrs.frozen
class OwnProvider:
    """A Kubernetes provider in the state of the stack.

    Attributes:
        name: its name.
        settings: its settings.
        fleet: True if it is one of a fleet's.
        uid: the uid of its cluster; None if that is not known.
    """

    name: str
    settings: ProviderSettings
    fleet: bool = False
    uid: str | None = None


async def own_providers(ask: AskUid) -> tuple[OwnProvider, ...]:
    """Return the Kubernetes providers in the state, with the clusters that those of the program's
    own lead to.
    """
    stored = read_stored((names.PROVIDER,))
    return tuple(await asyncio.gather(*(_asked(item, ask) for item in stored)))


async def _asked(stored: StoredResource, ask: AskUid) -> OwnProvider:
    settings = ProviderSettings(stored.outputs)
    fleet = names.FLEET in Urn.parse(stored.urn).types
    # The members of a fleet are asked anyway.
    text = "" if fleet else settings.kubeconfig(stored.name)
    uid = await in_thread(partial(ask, text)) if text else None
    return OwnProvider(stored.name, settings, fleet, uid)


def reach_of(providers: Iterable[OwnProvider]) -> frozenset[str] | None:
    """Return the clusters that the program's own providers lead to; None if one of them is not
    known.
    """
    uids = [provider.uid for provider in providers if not provider.fleet]
    return None if None in uids else frozenset(filter(None, uids))


def made_anew(
    claim: Claim,
    member: str,
    settings: ProviderSettings,
    uid: str | None,
    providers: Iterable[OwnProvider],
) -> Problem | None:
    """Return a refusal if the engine would replace an object that moves to another provider; None
    if it moves in place.

    It asks the provider for that (``providerChanged`` in pulumi/pulumi v3.260.0,
    pkg/resource/deploy/step_generator.go). The state does not show the program which provider an
    object has, so each one counts that may lead to its cluster.

    Args:
        claim: the object.
        member: the member that gets it.
        settings: the settings of the member's provider.
        uid: the uid of the member's cluster.
        providers: the providers in the state.
    """
    for provider in providers:
        if _may_have(provider, claim, uid) and _replaces(provider.settings, settings, member):
            words = {"resource": f'"{claim.name}"', "member": member, "provider": provider.name}
            hint = _ANEW_HINT.filled(identifier=settings.identifier)
            return Problem(_ANEW.filled(**words), subject=str(claim.key), hint=hint)
    return None


def _may_have(own_provider: OwnProvider, claim: Claim, uid: str | None) -> bool:
    """Return whether a provider may be that of an object on the cluster with this uid."""
    if claim.fleet and own_provider.fleet:
        name = names.member_name(claim.fleet, claim.cluster)
        return names.is_provider_of(own_provider.name, name)
    return (
        not own_provider.fleet
        and not claim.fleet
        and (own_provider.uid is None or own_provider.uid == uid)
    )


def _replaces(old: ProviderSettings, new: ProviderSettings, member: str) -> bool:
    """Return whether objects of one provider are replaced when they get another one.

    As ``DiffConfig`` of the Kubernetes provider (4.34, ``provider/pkg/provider/provider.go``).
    """
    if old.identifier and new.identifier:
        return old.identifier != new.identifier
    if old.given.get(_RENDERS) != new.given.get(_RENDERS):
        return True
    clusters = _cluster(old, member), _cluster(new, member)
    return None not in clusters and clusters[0] != clusters[1]


def _cluster(settings: ProviderSettings, member: str) -> Mapping[str, Any] | None:
    """Return how a provider reaches its cluster; None if its settings do not say it."""
    text = settings.kubeconfig(member)
    if not text:
        return None
    config = read_yaml(text)
    contexts = {
        item.get("name"): item.get("context") or {} for item in config.get("contexts") or ()
    }
    clusters = {item.get("name"): item.get("cluster") for item in config.get("clusters") or ()}
    found = clusters.get(contexts.get(config.get("current-context"), {}).get("cluster"))
    return found if isinstance(found, Mapping) else None
