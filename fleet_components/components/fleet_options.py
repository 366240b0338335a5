"""Resource options of a fleet: those that it supports, and what to write instead of all others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import attrs
import pulumi

from fleet_components.components.config import FromConfig
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.process import unknown
from fleet_components.components.refusal import RefusedPlanError, of_the_program
from fleet_components.components.run import EngineRun, Planned
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.reader import Guest, guests, present
from fleet_components.plan import names
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.names import Urn
from fleet_components.plan.neighbours import refuses_losses_alone

_CARRIED_OUT = frozenset(
    {
        "parent",
        "depends_on",
        "aliases",
        "protect",
        "provider",
        "providers",
        "transforms",
        "transformations",
    }
)
_SHARED = ("parent", "depends_on", "provider", "providers", "transforms", "transformations")
_BY_TRANSFORM = "a transform sets it on single objects: transforms=[...], see docs/delivery.md"
_INSTEAD = {
    "ignore_changes": _BY_TRANSFORM,
    "custom_timeouts": (
        "FleetArgs.ready_timeout sets it for all objects, the annotation pulumi.com/timeoutSeconds"
        f" for one; or {_BY_TRANSFORM}"
    ),
    "hooks": _BY_TRANSFORM,
    "additional_secret_outputs": _BY_TRANSFORM,
    "hide_diffs": _BY_TRANSFORM,
    "retain_on_delete": (
        "FleetArgs.keep_cluster_resources keeps namespaces and cluster-scoped objects, "
        "preserveResourcesOnDeletion of a Karmada policy all that it places"
    ),
    "deleted_with": "mark a member whose cluster is gone as lost: FleetArgs.lost",
    "replace_with": (
        "the objects of a fleet are replaced where a field cannot be changed, and nowhere else"
    ),
    "replace_on_changes": (
        "the objects of a fleet are replaced where a field cannot be changed, and nowhere else"
    ),
    "replacement_trigger": (
        "the objects of a fleet are replaced where a field cannot be changed, and nowhere else"
    ),
    "delete_before_replace": "an object of a fleet that is replaced is always deleted first",
    "state_migrations": "names and members are renamed by FleetArgs.renamed",
    "import_": "the objects of a fleet take up what is there already",
}
_NOTHING = "leave it out: it means nothing for a component"
_OF_MEMBERS = (
    "each member has its own: Member(provider=...), or FleetArgs.providers for members of the"
    " source"
)


@attrs.frozen
class FleetOptions:
    """The parsed resource options of a fleet.

    Attributes:
        own: options of the fleet component itself, for the engine.
        beside: options of the clusters that are provisioned with the fleet: the same parent,
            providers, transforms and dependencies.
        protect: whether the fleet is protected; None if the option is not set.
        earlier: former names of the fleet, from its aliases.
    """

    own: pulumi.ResourceOptions
    beside: pulumi.ResourceOptions
    protect: bool | None = None
    earlier: tuple[str, ...] = ()


def read_options(opts: pulumi.ResourceOptions | None) -> FleetOptions:
    """Parse the resource options of a fleet.

    ``protect`` is not passed on to the engine: the engine applies it to all children, so no object
    could ever leave a member. The protection of a parent is not inherited either.

    Raises:
        FleetError: an option would have no effect, or another effect than its name says.
    """
    opts = opts or pulumi.ResourceOptions()
    problems = [*_without_effect(opts), *_wrong_providers(opts), *_wrong_aliases(opts)]
    if problems:
        raise FleetError(of_the_program(problems))
    # An explicit False also keeps the engine from handing down a parent's protection.
    own = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=False))
    beside = pulumi.ResourceOptions(**{option: getattr(opts, option) for option in _SHARED})
    return FleetOptions(
        own,
        beside,
        opts.protect,
        tuple(dict.fromkeys(filter(None, map(_name, opts.aliases or ())))),
    )


def _without_effect(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    """Yield a problem for each option that the engine accepts for a component but ignores or
    applies harmfully.
    """
    # By the list of the installed SDK, so that an option that a later release adds is refused, and
    # not ignored.
    unset = vars(pulumi.ResourceOptions())
    for option, value in vars(opts).items():
        if option not in _CARRIED_OUT and option in unset and value:
            yield Problem(
                Message("not-fleet", "is not for a fleet"),
                ("Fleet", "opts", option),
                _INSTEAD.get(option, _NOTHING),
            )


def _wrong_providers(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    several: Any = opts.providers or ()
    # Pulumi takes a list of providers, or a map of them by package.
    several = several.values() if hasattr(several, "values") else several
    for option, providers in (
        ("provider", [opts.provider] if opts.provider else []),
        ("providers", several),
    ):
        for provider in providers:
            if not isinstance(provider, pulumi.ProviderResource):
                what = Message(
                    "no-provider", "is {type}, and no provider", type=type(provider).__name__
                )
                yield Problem(what, ("Fleet", "opts", option), "give a pulumi.ProviderResource")
            elif provider.package == "kubernetes":
                yield Problem(
                    Message(
                        "provider-kubernetes-reaches-none",
                        "a provider of Kubernetes reaches none of its objects",
                    ),
                    ("Fleet", "opts", option),
                    _OF_MEMBERS,
                )


def _wrong_aliases(opts: pulumi.ResourceOptions) -> Iterator[Problem]:
    if isinstance(opts.aliases, str):
        yield Problem(
            Message("str-not-list", "is a str, not a list"),
            ("Fleet", "opts", "aliases"),
            'aliases=[pulumi.Alias(name="old")]',
        )
        return
    for position, alias in enumerate(opts.aliases or ()):
        plain = isinstance(alias, str) or (
            isinstance(alias, pulumi.Alias) and isinstance(_given(alias.name), str)
        )
        if not plain:
            hint = 'give a plain value: pulumi.Alias(name="old"), or the URN as text'
            what = Message(
                "known-too-late-what",
                "is known too late: what stands under the former name is read before anything is"
                " planned",
            )
            yield Problem(what, ("Fleet", "opts", "aliases", position), hint)
        elif isinstance(alias, str) and not names.is_urn(alias):
            yield Problem(
                Message("not-urn", '"{alias}" is not a URN', alias=alias),
                ("Fleet", "opts", "aliases", position),
                'or pulumi.Alias(name="old")',
            )


def _name(alias: str | pulumi.Alias | Any) -> str:
    """Return the fleet name in an alias; empty if the alias has only another parent, or is of
    another type.
    """
    if isinstance(alias, pulumi.Alias):
        return str(_given(alias.name))
    urn = Urn.parse(alias)
    return urn.name if urn.type == names.FLEET else ""


def _given(name: Any) -> Any:
    """Return a part of an alias; empty if it is omitted (``...`` is the SDK's default)."""
    return "" if name is None or name is ... else name


# Clusters that guests provision beside a fleet, as its configuration declares them.


def to_be_provisioned(args: FleetArgs) -> FleetArgs:
    """Return the arguments of a fleet as if the clusters that its configuration declares stood
    already.

    A plan only needs to know that they will have kubeconfigs.
    """
    if not isinstance(args, FromConfig) or args.source.problems:
        return args
    manifests = args.source.catalogue.manifests
    coming = [cluster.name for guest in present(manifests) for cluster in guest.clusters(manifests)]
    return attrs.evolve(
        args, kubeconfigs={**{member: unknown() for member in coming}, **args.kubeconfigs}
    )


def in_subscription(args: FleetArgs, options: FleetOptions) -> FleetArgs:
    """Return the arguments of a fleet with the subscription in which its configuration provisions
    members that name none.
    """
    for guest in present(args.source.catalogue.manifests) if isinstance(args, FromConfig) else ():
        source = args.source.in_subscription(guest.subscription(options.beside))
        args = attrs.evolve(args, source=source)
    return args


def refuse_together(name: str, args: FleetArgs, plan: FleetPlan, options: FleetOptions) -> Planned:
    """Return the plan as one of this run; refuse what it and what guests would delete, in one
    error.

    So all tokens are asked for at once. Without guests a refusal waits until all fleets of the
    program are known; what guests provision does not wait for that.

    Raises:
        RefusedPlanError: the plan is refused, or a guest would delete something that no token
            allows.
    """
    beside, asked = _beside(args, options), _asked(args, plan)
    removals = [guest.removals(name, args, beside) for guest in asked]
    beside_it = [problem for removal in removals for problem in removal.refused]
    refused = (*plan.refused, *beside_it)
    if not beside_it and not (asked and refused):
        defers = not asked and refuses_losses_alone(plan)
        return EngineRun.current().add(plan, defers=defers)
    # Tokens that are right are named too: only another one may be missing.
    for allowed in filter(None, (removal.allowed for removal in removals)):
        pulumi.log.warn(allowed)
    # Raised, because a preview that only logs an error ends with exit status 0.
    declared = [fleet.plan for fleet in EngineRun.current().fleets]
    raise RefusedPlanError([*declared, attrs.evolve(plan, refused=refused)])


def provisioned(name: str, args: FleetArgs, plan: FleetPlan, options: FleetOptions) -> FleetArgs:
    """Return the arguments of a fleet with the clusters provisioned that its configuration
    declares.
    """
    beside = _beside(args, options)
    for guest in _asked(args, plan):
        args = guest.provision(name, args, beside)
    return args


def _asked(args: FleetArgs, plan: FleetPlan) -> Sequence[Guest]:
    """Return the guests to ask; all of them if something stands that one has provisioned, declared
    or not.
    """
    if not isinstance(args, FromConfig):
        return ()
    stands = any(kind == names.PROVISIONED for kind, _ in plan.past.urns)
    return guests() if stands else present(args.source.catalogue.manifests)


def _beside(args: FleetArgs, options: FleetOptions) -> pulumi.ResourceOptions:
    earlier = [
        pulumi.Alias(name=text) for text in filter(None, (args.renamed.fleet, *options.earlier))
    ]
    return pulumi.ResourceOptions.merge(options.beside, pulumi.ResourceOptions(aliases=earlier))
