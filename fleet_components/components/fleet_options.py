"""The resource options of a fleet: those that it carries out, and what to write in the place of all others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import attrs
import pulumi

from fleet_components.components.refusal import of_the_program
from fleet_components.model.problem import FleetError, Problem
from fleet_components.plan import names
from fleet_components.plan.names import Urn

_CARRIED_OUT = frozenset(
    {"parent", "depends_on", "aliases", "protect", "provider", "providers", "transforms", "transformations"}
)
_SHARED = ("parent", "depends_on", "provider", "providers", "transforms", "transformations")
_BY_TRANSFORM = "a transform sets it on single objects: transforms=[...], see docs/delivery.md"
_INSTEAD = {
    "ignore_changes": _BY_TRANSFORM,
    "custom_timeouts": f"annotate objects with pulumi.com/timeoutSeconds; or {_BY_TRANSFORM}",
    "hooks": _BY_TRANSFORM,
    "additional_secret_outputs": _BY_TRANSFORM,
    "hide_diffs": _BY_TRANSFORM,
    "retain_on_delete": "FleetArgs.keep_cluster_resources keeps namespaces and cluster-scoped objects, "
    "preserveResourcesOnDeletion of a Karmada policy all that it places",
    "deleted_with": "mark a member whose cluster is gone as lost: FleetArgs.lost",
    "replace_with": "the objects of a fleet are replaced where a field cannot be changed, and nowhere else",
    "replace_on_changes": "the objects of a fleet are replaced where a field cannot be changed, and nowhere else",
    "replacement_trigger": "the objects of a fleet are replaced where a field cannot be changed, and nowhere else",
    "delete_before_replace": "an object of a fleet that is replaced is always deleted first",
    "state_migrations": "names and members are renamed by FleetArgs.renamed",
    "import_": "the objects of a fleet take up what is there already",
}
_NOTHING = "leave it out: it means nothing for a component"
_OF_MEMBERS = "each member has its own: Member(provider=...), or FleetArgs.providers for members of the source"


@attrs.frozen
class FleetOptions:
    """The options of a fleet, read.

    Attributes:
        own: those of the component, for the engine.
        beside: those of clusters that are provisioned with it: they have the same parent and providers, and wait for
            the same.
        protect: whether the fleet is protected; None where nothing says so.
        former: names that the fleet had before, as its aliases say.
    """

    own: pulumi.ResourceOptions
    beside: pulumi.ResourceOptions
    protect: bool | None = None
    former: tuple[str, ...] = ()


def read_options(opts: pulumi.ResourceOptions | None) -> FleetOptions:
    """Read the resource options of a fleet.

    Protection is not handed to the engine as it is: there it comes down on everything below, so that no object could
    ever leave a member. Nor does it come down from a parent.

    Raises:
        FleetError: an option would do nothing, or something else than it says.
    """
    opts = opts or pulumi.ResourceOptions()
    if problems := [*_without_effect(opts), *_wrong_providers(opts), *_wrong_aliases(opts)]:
        raise FleetError(of_the_program(problems))
    own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=False))
    beside = pulumi.ResourceOptions(**{option: getattr(opts, option) for option in _SHARED})
    return FleetOptions(own, beside, opts.protect, tuple(dict.fromkeys(filter(None, map(_name, opts.aliases or ())))))


def _without_effect(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    """Options that the engine takes for a component and does nothing about, or nothing good."""
    unset = vars(pulumi.ResourceOptions())
    for option, value in vars(opts).items():
        if option not in _CARRIED_OUT and option in unset and value:
            yield Problem("is not for a fleet", ("Fleet", "opts", option), _INSTEAD.get(option, _NOTHING))


def _wrong_providers(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    several: Any = opts.providers or ()
    several = several.values() if hasattr(several, "values") else several
    for option, providers in (("provider", [opts.provider] if opts.provider else []), ("providers", several)):
        for provider in providers:
            if not isinstance(provider, pulumi.ProviderResource):
                what = f"is {type(provider).__name__}, and no provider"
                yield Problem(what, ("Fleet", "opts", option), "give a pulumi.ProviderResource")
            elif provider.package == "kubernetes":
                yield Problem(
                    "a provider of Kubernetes reaches none of its objects", ("Fleet", "opts", option), _OF_MEMBERS
                )


def _wrong_aliases(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    if isinstance(opts.aliases, str):
        yield Problem("is a str, not a list", ("Fleet", "opts", "aliases"), 'aliases=[pulumi.Alias(name="old")]')
        return
    for position, alias in enumerate(opts.aliases or ()):
        plain = isinstance(alias, str) or (isinstance(alias, pulumi.Alias) and isinstance(_given(alias.name), str))
        if not plain:
            hint = 'give a plain value: pulumi.Alias(name="old"), or the URN as text'
            what = "is known too late: what stands under the former name is read before anything is planned"
            yield Problem(what, ("Fleet", "opts", "aliases", position), hint)
        elif isinstance(alias, str) and alias.count("::") < 3:
            yield Problem(f'"{alias}" is no URN', ("Fleet", "opts", "aliases", position), 'or pulumi.Alias(name="old")')


def _name(alias: str | pulumi.Alias | Any) -> str:
    """The name of the fleet that an alias tells; empty where it tells another parent, or of another type."""
    if isinstance(alias, pulumi.Alias):
        return str(_given(alias.name))
    urn = Urn.parse(alias)
    return urn.name if urn.type == names.FLEET else ""


def _given(name: Any) -> Any:
    """A part of an alias; empty where it is left out."""
    return "" if name is None or name is ... else name
