"""The subscription that something of Azure is in, and the provider that reaches it.

A provider of Azure works in one subscription. What lives in another one, a member's cluster for
example, needs a provider of its own; what belongs to the fleet stays with the provider of the hub.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any
from weakref import WeakKeyDictionary

import attrs
import pulumi
from pulumi_azure_native import Provider, authorization

from fleet_components.components.refusal import RefusedError
from fleet_components.model.codec import camel
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem

# get_provider takes the type of a resource, but only its package counts.
_PACKAGE, _ANY_TYPE = "azure-native", "azure-native:resources:Resource"
# Settings of the provider by how the configuration holds them: as secrets, texts or booleans.
_SECRET = (
    "client_id",
    "client_secret",
    "client_certificate_password",
    "oidc_token",
    "oidc_request_token",
)
_PLAIN = (
    *(
        "client_certificate_path",
        "environment",
        "location",
        "metadata_host",
        "msi_endpoint",
        "oidc_request_url",
    ),
    *("oidc_token_file_path", "partner_id", "tenant_id"),
)
_FLAGS = (
    *(
        "disable_instance_discovery",
        "disable_pulumi_partner_id",
        "use_default_azure_credential",
        "use_msi",
    ),
    "use_oidc",
)

# Weak keys, so that an entry ends with its provider.
_WORKS_IN: WeakKeyDictionary[pulumi.ProviderResource, pulumi.Output[str | None]] = (
    WeakKeyDictionary()
)
"""The subscription of each provider that was declared here or queried."""


def azure_provider(resource: pulumi.Resource) -> pulumi.ProviderResource | None:
    """Return the explicit Azure provider that a component hands to its children; None for the
    default provider.
    """
    return resource.get_provider(_ANY_TYPE)


def has_azure_provider(opts: pulumi.ResourceOptions | None) -> bool:
    """Return whether the options of a component give it an explicit Azure provider, or a parent
    that has one.
    """
    if opts is None:
        return False
    # Pulumi takes a list of providers, or a map of them by package.
    several = opts.providers or ()
    given = [opts.provider, *(several.values() if isinstance(several, Mapping) else several)]
    here = any(each is not None and each.package == _PACKAGE for each in given)
    return here or (opts.parent is not None and azure_provider(opts.parent) is not None)


def configured_subscription() -> str:
    """Return the ID of the default provider's subscription in lower case; empty if only the Azure
    CLI knows it.
    """
    configured = pulumi.Config(_PACKAGE).get("subscriptionId") or os.environ.get(
        "ARM_SUBSCRIPTION_ID", ""
    )
    return configured.strip().lower()


def default_subscription(opts: pulumi.ResourceOptions | None) -> str:
    """Return the subscription of what has these options and names none; empty if it is unknown when
    a fleet is planned.

    That of an explicit provider is known only once the provider is.
    """
    return "" if has_azure_provider(opts) else configured_subscription()


@attrs.define(eq=False)
class Subscriptions:
    """The subscriptions of one fleet, with a provider for each one that its own provider does not
    reach.

    Attributes:
        name: prefix of the Pulumi names of the providers that are made.
        given: providers by ID of their subscription.
    """

    name: str
    given: Mapping[str, Provider] = attrs.field(factory=dict)
    _made: dict[str, Provider] = attrs.field(factory=dict, init=False)

    def key(self, subscription: str, opts: pulumi.ResourceOptions | None) -> str:
        """Return the ID of a subscription in lower case; empty if what has these options is in it
        anyway.

        An explicit provider decides by itself; :func:`reached_subscription` holds it against what
        is declared.
        """
        wanted = subscription.lower()
        if wanted in self._given:
            return wanted
        return "" if has_azure_provider(opts) or wanted == configured_subscription() else wanted

    def options(
        self, subscription: str, opts: pulumi.ResourceOptions | None
    ) -> pulumi.ResourceOptions | None:
        """Return the options of something that is in a subscription, with a provider of it if it
        needs one.

        A provider that is made becomes a sibling of what it is for.
        """
        provider = self.provider(subscription, opts)
        if provider is None:
            return opts
        return pulumi.ResourceOptions.merge(
            opts, pulumi.ResourceOptions(providers={_PACKAGE: provider})
        )

    def provider(self, subscription: str, opts: pulumi.ResourceOptions | None) -> Provider | None:
        """Return the provider of a subscription, made if there is none; None if what has these
        options needs none.
        """
        key = self.key(subscription, opts)
        if not key:
            return None
        # One provider for everything that is in the same subscription.
        if key not in self._given and key not in self._made:
            parent = pulumi.ResourceOptions(parent=opts.parent if opts else None)
            self._made[key] = _provider_of(f"{self.name}-{key}", key, parent)
        return self._given.get(key) or self._made[key]

    @property
    def _given(self) -> Mapping[str, Provider]:
        # IDs are compared in lower case, however the program writes them.
        return {subscription.lower(): provider for subscription, provider in self.given.items()}


def reached_subscription(
    component: pulumi.Resource, declared: str, subject: str = ""
) -> pulumi.Input[str | None]:
    """Return the subscription that a component's resources are made in, in lower case; None if
    nobody says which.

    A given provider says by itself where it works: it is asked once, and an error raised if that is
    not where the component, or whatever else ``subject`` names, is declared to be.
    """
    provider = azure_provider(component)
    if provider is None:
        return declared.lower() or configured_subscription() or None
    # One call for each provider, however many members use it.
    if provider not in _WORKS_IN:
        asked: pulumi.Output[Any] = authorization.get_client_config_output(
            opts=pulumi.InvokeOptions(provider=provider)
        )
        _WORKS_IN[provider] = asked.apply(lambda found: found.subscription_id)
    name = subject or component._name
    return _WORKS_IN[provider].apply(lambda found: _agreed(name, declared, found))


def through(owner: pulumi.Resource, opts: pulumi.ResourceOptions) -> pulumi.ResourceOptions:
    """Return options for a resource that goes through the Azure provider of ``owner``, whoever its
    parent is.

    A parent with a provider of its own cannot hand down the default provider; under it the resource
    gets ``owner`` as its parent instead, and the URN that it would have had as an alias.
    """
    wanted = azure_provider(owner)
    # The provider that the resource would get without help.
    given = opts.provider or (azure_provider(opts.parent) if opts.parent else None)
    if given is wanted:
        return opts
    if wanted is not None:
        return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(provider=wanted))
    moved = pulumi.ResourceOptions(parent=owner, aliases=[pulumi.Alias(parent=opts.parent)])
    return pulumi.ResourceOptions.merge(opts, moved)


def _provider_of(name: str, subscription: str, opts: pulumi.ResourceOptions) -> Provider:
    """Declare a provider of a subscription that signs in as the default provider does.

    An explicit provider does not read the stack's ``azure-native`` configuration, so its settings
    are handed over; environment variables and the Azure CLI serve both.
    """
    made = Provider(name, subscription_id=subscription, opts=opts, **_login())
    _WORKS_IN[made] = pulumi.Output.from_input(subscription)
    return made


def _agreed(name: str, declared: str, found: str | None) -> str | None:
    if declared and found and declared.lower() != found.lower():
        hint = f"give it a provider of {declared}, in an AzureFleet by providers"
        what = Message(
            "provider-works-subscription-declared",
            "its provider works in subscription {found}, it is declared in {declared}",
            found=found,
            declared=declared,
        )
        raise RefusedError([Problem(what, ("subscription",), hint, subject=name)])
    return (declared or found or "").lower() or None


def _login() -> Mapping[str, Any]:
    config = pulumi.Config(_PACKAGE)
    found: dict[str, Any] = {field: config.get_secret(camel(field)) for field in _SECRET}
    found |= {field: config.get(camel(field)) for field in _PLAIN}
    found |= {field: config.get_bool(camel(field)) for field in _FLAGS}
    found["auxiliary_tenant_ids"] = config.get_object("auxiliaryTenantIds")
    # What is not configured is left to environment variables and the Azure CLI.
    return {field: value for field, value in found.items() if value is not None}
