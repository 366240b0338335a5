"""The fleet component: plans first, then registers the members and delivers every placement and
template to them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache, partial
from typing import Any

import attrs
import pulumi

from fleet_components import dynamic
from fleet_components.components.config import FromConfig, configured, read_config
from fleet_components.components.delivery import DeliveryArgs, SubjectDelivery
from fleet_components.components.fleet_args import FleetArgs
from fleet_components.components.fleet_options import (
    in_subscription,
    provisioned,
    read_options,
    refuse_together,
    to_be_provisioned,
)
from fleet_components.components.handing_over import Arrivals, EarlierNames, between
from fleet_components.components.hub import Hub, unreachable_hub
from fleet_components.components.identification import Identification
from fleet_components.components.keeping import keeping
from fleet_components.components.member import Member, identities_of
from fleet_components.components.own_provider import not_let_go
from fleet_components.components.past import (
    as_members_say,
    once_declared,
    past_kubeconfigs,
    read_past,
)
from fleet_components.components.plan_start import (
    ObservedStart,
    StandingResources,
    start_of,
    under_releases,
)
from fleet_components.components.process import in_process, tell_at_end
from fleet_components.components.program_objects import manifests_of
from fleet_components.components.providers import MemberProviders, in_earnest, unreachable_members
from fleet_components.components.refusal import RefusedError, expect, of_the_program, refusing
from fleet_components.components.registrations import observed, registering
from fleet_components.components.taking_over import TakingOver, compare
from fleet_components.components.trials import FormTrials
from fleet_components.content.secret import REDACTED, redacted
from fleet_components.live.kubeconfig import kubeconfig_key
from fleet_components.model.cluster import Cluster, serving_both
from fleet_components.model.frames import called_from
from fleet_components.model.inventory import Inventory
from fleet_components.model.labels import subdomain_errors
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.model.text import Vocabulary, visible
from fleet_components.options import shared
from fleet_components.plan import names
from fleet_components.plan.describe import describe_plan
from fleet_components.plan.feed import feed_inventory, feed_plan
from fleet_components.plan.fleet import plan_fleet
from fleet_components.plan.fleet_names import RENAMED
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.lost import describe_remembered, same_cluster
from fleet_components.plan.no_match import meant
from fleet_components.plan.options import Options, Settings
from fleet_components.plan.pass_over import not_passed_over
from fleet_components.plan.past import Past

_SAME_PROVIDER = Message(
    "same-provider-as-member", "has the provider of member {other}: they are the same cluster"
)


class Fleet(pulumi.ComponentResource):
    """A fleet: its members, and the placements and templates delivered to them.

    Resources that depend on it (``depends_on=[fleet]``) wait for the objects and bindings of all
    waves of all placements and templates. They do not wait for what this update does not do: a held
    member keeps what it has, and objects that leave a member are deleted at the end of the update.
    See "What waits for a fleet" in ``docs/delivery.md``.

    It takes the resource options ``parent``, ``depends_on``, ``aliases``, ``transforms``,
    ``transformations``, ``provider`` and ``providers`` (except Kubernetes providers) and
    ``protect`` (as :attr:`FleetArgs.protect`). All others are refused, with a hint at what to write
    instead.

    Attributes:
        delivered: by key of placement or template, the revision that runs on each member. Known
            once all of them are delivered; in a preview at once, as planned.
        placements: the placements by key: name, or ``namespace/name``.
        templates: the templates, which Karmada's policies place, by key: ``namespace/Kind/name``.
        inventory: the members as the schedulers saw them.

    Raises:
        FleetError: the input is invalid, or the update would take too much; every problem is named,
            and nothing was registered.
    """

    delivered: pulumi.Output[Mapping[str, Mapping[str, int]]]
    placements: Mapping[str, SubjectDelivery]
    templates: Mapping[str, SubjectDelivery]
    inventory: Inventory

    @refusing()
    @registering()
    def __init__(
        self, name: str, args: FleetArgs, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        expect(type(self), name, args, FleetArgs, opts)
        # From here on the objects are a part of the source, and checked with it.
        args = attrs.evolve(
            args, source=args.source.with_objects(manifests_of(args.objects)), objects=()
        )
        # After the configuration, which may name a release.
        args = under_releases(configured(args))
        options = read_options(opts)
        args = in_subscription(args, options)
        # Before anything is registered: a refusal leaves nothing in the state, not even the
        # component.
        plan, guessed = _plan(name, args, *_members(name, to_be_provisioned(args)), options.earlier)
        options = attrs.evolve(
            options,
            own=_held(options.own, guessed),
            beside=_held(options.beside, guessed),
            earlier=(*options.earlier, *plan.past.fleets),
        )
        self._planned = refuse_together(name, args, plan, options)
        # Where nothing is sent, what members keep need not be known.
        if self.plan.hidden and not in_process():
            raise FleetError(self.plan.hidden)
        args = provisioned(name, args, self.plan, options)
        # Once more: members that were just provisioned have their kubeconfigs now.
        members, _ = _members(name, args)
        self.inventory = self.plan.inventory
        earlier = EarlierNames(self.plan)
        gone = _gone(self.plan, members)
        # Lost members stay, so that their providers are let go in ``_reach``.
        members |= {text: member for text, member in gone.items() if member.lost}
        own = pulumi.ResourceOptions.merge(earlier.component(), observed(options.own))
        # Everything of the fleet waits for its component, and so for all fleets of the program.
        # An output as dependencies: it lists no resource, but resolves only when all fleets are
        # judged.
        known = pulumi.ResourceOptions(depends_on=self._planned.known.apply(lambda _: []))
        super().__init__(names.FLEET, name, {}, pulumi.ResourceOptions.merge(own, known))
        written = args.source.origins
        trials = FormTrials(self.plan, written, self)
        reaches = not args.render_to
        identification = Identification(
            name, members, self._planned, earlier, reaches, written, gone, self, trials
        )
        taking_over = TakingOver(identification)
        providers = self._reach(name, args, identification)
        delivery = DeliveryArgs(
            fleet=name,
            plan=self.plan,
            inventory=feed_inventory(self.inventory),
            providers=providers,
            earlier=earlier,
            after=providers.after,
            tries=identification.tries,
            clear=identification.delete,
            marks=taking_over.marks,
            aliases=taking_over.aliases,
            compare=partial(compare, identification),
            # Once per member: the engine refuses a second hook of the same name.
            hooks=cache(partial(keeping, identification, args.ready_timeout)),
            ready_timeout=args.ready_timeout,
            arrivals=Arrivals(),
            # Rendered files may be read by others, so the data of Secrets is hidden in them.
            transform=redacted if args.render_to else dict,
        )
        self._deliver(delivery)
        hub = self._send_to_hub(name, args)
        self._planned.once_judged(self._report)
        delivered = {**self.placements, **self.templates}
        if not in_process():
            # In a preview nothing breaks, and what refuses there ends the program in the same way.
            tell_at_end(
                tuple
                if pulumi.runtime.is_dry_run()
                else StandingResources(list(delivered.values()), trials).broken
            )
        last = [binding for item in delivered.values() for binding in item.last]
        last += hub.last if hub else ()
        protect = args.protect if options.protect is None else options.protect
        # Without any binding it depends on the providers, so that a deletion still begins with the
        # roster and stops.
        after = [*last, *(providers.declared() if not last else ())]
        brought = [text for text, member in members.items() if member.provider is not None]
        roster = self._enroll(earlier, after, hub.uid if hub else None, brought, protect=protect)
        self.delivered = _once(roster, {key: item.delivered for key, item in delivered.items()})
        self.register_outputs({key: item.decisions for key, item in delivered.items()})

    @property
    def plan(self) -> FleetPlan:
        """The fate of every placement, template, member and object, and the reason for it.

        It is known at once. What moves to fleets that the program declares later is known when
        the body of the program has ended.
        """
        return self._planned.plan

    @classmethod
    @refusing()
    def from_config(cls, name: str, opts: pulumi.ResourceOptions | None = None) -> Fleet:
        """Return a fleet that only the ``fleet:`` keys of the configuration describe; see
        ``config.KEYS``.

        Clusters that its YAML declares are provisioned beside it, once its plan is not refused:
        they get its parent, providers and transforms, and wait for what it waits for.

        Raises:
            FleetError: the configuration, or a source that it names, is invalid.
        """
        return cls(name, read_config(), opts)

    def _enroll(
        self,
        earlier: EarlierNames,
        after: Sequence[pulumi.Resource],
        hub: pulumi.Output[str] | None,
        brought: Sequence[str],
        *,
        protect: bool,
    ) -> dynamic.Roster:
        """Register the roster, the record of all members, once everything else stands.

        The roster also guards the fleet: a program that no longer declares the fleet would delete
        everything without any check. The engine deletes resources that depend on others before
        these, so it begins with the roster, which is protected and stops the deletion.
        """
        plan, name = self.plan, self.plan.options.fleet
        uid = {"hub": hub} if hub is not None else {}
        own = {"ownProviders": brought} if brought else {}
        feed = self._planned.known.apply(lambda _: feed_plan(self.plan))
        props = {**plan.roster, **uid, **own, dynamic.FEED: feed}
        options = pulumi.ResourceOptions(
            parent=self, protect=protect, depends_on=list(after), hide_diffs=["waiting", "held"]
        )
        alias = earlier.alias(names.ROSTER, name, earlier.fleets)
        return dynamic.Roster(name, props, pulumi.ResourceOptions.merge(options, alias))

    def _reach(self, name: str, args: FleetArgs, identification: Identification) -> MemberProviders:
        """Return the providers of the members, which wait until every member is known to be the
        same cluster.
        """
        members, earlier = identification.members, identification.earlier
        after = identification.register()
        providers = MemberProviders(
            name, members, args.render_to, earlier, after, identification.knows, self
        )
        for cluster in sorted(name for name, member in members.items() if member.lost):
            providers.let_go(cluster)
        return providers

    def _deliver(self, delivery: DeliveryArgs) -> None:
        made: dict[str, SubjectDelivery] = {}
        with delivery.arrivals.complete():
            for decided in reversed(self.plan.subjects):  # subjects that others need come first
                first = [made[other] for other in decided.first if other in made]
                made[decided.name] = SubjectDelivery(decided, delivery, first, self)
        self.placements, self.templates = (
            _ByKey({item.subject.key: made[item.name] for item in self.plan.of(component)})
            for component in ("Placement", "Template")
        )

    def _send_to_hub(self, name: str, args: FleetArgs) -> Hub | None:
        """Register what goes through a hub, once everything is decided; None if nothing does."""
        if not self.plan.consignment.system:
            return None
        decided = [
            delivery for made in (self.placements, self.templates) for delivery in made.values()
        ]
        after = [
            resource for delivery in decided if delivery.decided.hub for resource in delivery.last
        ]
        after = between(f"{names.hub_name(name)}/decided", after, 2, self)
        return Hub(name, self.plan, args.hub, after, self, args.ready_timeout)

    def _report(self) -> None:
        lines = [line.text for line in describe_plan(self.plan)]
        if lines:
            pulumi.log.info("\n".join(map(visible, (f"{self.plan.options.fleet}:", *lines))), self)
        for line in describe_remembered(self.plan):
            pulumi.log.info(visible(line), self)
        for warning in (*self.plan.warnings, *self.plan.hidden):
            pulumi.log.warn(str(warning), self)


_RENDERED = Message(
    "objects-rendered-some-them", "objects are rendered, and some of them go through a hub"
)


class _ByKey(dict[str, SubjectDelivery]):
    """Deliveries by key; looking up an unknown key raises an error that suggests known ones."""

    def __missing__(self, key: str) -> SubjectDelivery:
        file, line = called_from()
        problem = Problem(
            Message("no-fleet", 'there is no "{key}" in this fleet', key=key),
            (),
            meant(key, Vocabulary(self), "there is"),
            "",
            file,
            line,
        )
        raise _MissingError([problem])


class _MissingError(RefusedError, KeyError):
    """A lookup of a placement or template that the fleet does not have."""


def _once(stands: pulumi.Resource, values: Mapping[str, pulumi.Output[Any]]) -> pulumi.Output[Any]:
    """Return the values by name as one output that resolves once a resource stands."""
    return pulumi.Output.all(stands.urn, pulumi.Output.all(**values)).apply(
        lambda found: dict(found[1])
    )


def _gone(plan: FleetPlan, members: Mapping[str, Member]) -> dict[str, Member]:
    """Return the members that are no longer declared, as far as they can be reached as before, and
    lost ones.
    """
    gone = sorted((plan.past.members.keys() | plan.members.keys()) - members.keys())
    if not gone:
        return {}
    reached = past_kubeconfigs(plan)
    # Against mocks no cluster is reached, so the text is not needed.
    kubeconfigs = {
        name: REDACTED if in_process() else reached[name] for name in gone if name in reached
    }
    return {
        name: Member(Cluster(name), kubeconfigs.get(name), lost=name in plan.members)
        for name in gone
        if name in kubeconfigs or name in plan.members
    }


def stack_name() -> str:
    """Return the full name of the running stack: ``organization/project/stack``."""
    return f"{pulumi.get_organization()}/{pulumi.get_project()}/{pulumi.get_stack()}"


def _plan(
    name: str,
    args: FleetArgs,
    members: Mapping[str, Member],
    problems: Iterable[Problem],
    formerly: Sequence[str],
) -> tuple[FleetPlan, frozenset[str]]:
    """Plan the fleet; the plan may be refused. Return it with the former names of the fleet that
    nobody has said.

    Args:
        name: the fleet's name.
        args: the fleet's arguments.
        members: the members by name.
        problems: problems of the members and of the fleet's name.
        formerly: former names of the fleet, from its aliases.

    Raises:
        FleetError: there is no plan; carries all problems that prevent one.
    """
    past, guessed, damaged = _past(name, [*filter(None, [args.renamed.fleet]), *formerly])
    # Where objects are only rendered, no member is asked.
    past = past if args.render_to else as_members_say(past, members.values(), args.confirm)
    try:
        start = start_of(past, name, stack_name(), args)
    except FleetError as error:
        start, damaged = ObservedStart(past), (*damaged, *error.problems)
    unreachable = {} if args.render_to else unreachable_members(members.values())
    lost = (member for member, declared in members.items() if declared.lost)
    of_args = {
        **shared(Options, args),
        "as_of": args.as_of or start.as_of,
        "lost": frozenset((*args.lost, *lost)),
    }
    options = Options(
        stack=stack_name(),
        fleet=name,
        settings=Settings(**shared(Settings, args)).under(args.source.given.releases),
        identities=identities_of(members),
        unreachable={} if in_process() else unreachable,
        **of_args,
    )
    clusters = tuple(serving_both(member.cluster) for member in members.values())
    refused = not_passed_over(args.source, options.pass_over)
    wrong = layered((*damaged, *args.source.problems, *refused), problems)
    try:
        plan = plan_fleet(
            attrs.evolve(args.source, clusters=clusters, problems=wrong), start.past, options
        )
    except FleetError as error:
        raise FleetError(
            error.problems if isinstance(args, FromConfig) else of_the_program(error.problems)
        ) from None
    renamed = [
        Problem(RENAMED.filled(fleet=name), subject=f"fleet {text}") for text in sorted(guessed)
    ]
    plan = attrs.evolve(plan, warnings=(*plan.warnings, *renamed))
    untold = start.untold(plan)
    if untold:
        plan = attrs.evolve(plan, warnings=(*plan.warnings, untold))
    if not args.render_to:
        plan = attrs.evolve(plan, refused=(*plan.refused, *not_let_go(plan, members)))
    if args.render_to and plan.consignment.system:
        raise FleetError(
            [
                Problem(
                    _RENDERED, ("render_to",), "take one of the two out: a hub is not rendered to"
                )
            ]
        )
    unreached_hub = unreachable_hub(plan.consignment, args.hub)
    if unreached_hub:
        if not in_process():
            raise FleetError([unreached_hub])
        plan = attrs.evolve(plan, warnings=(*plan.warnings, in_earnest(unreached_hub)))
    # No cluster is contacted, so a member without a usable kubeconfig is only a warning.
    if in_process():
        unreached = [
            in_earnest(unreachable[member]) for member in plan.sent_to if member in unreachable
        ]
        plan = attrs.evolve(plan, warnings=(*plan.warnings, *unreached))
    return plan, guessed


def _past(
    name: str, given_names: Iterable[str]
) -> tuple[Past, frozenset[str], tuple[Problem, ...]]:
    """Return the past of a fleet, its former names that nobody has said, and the problems of the
    state.

    A damaged state gives the past of a new fleet, so that all other errors can be reported with its
    problems.
    """
    try:
        return *read_past(name, given_names), ()
    except FleetError as error:
        return Past(), frozenset(), error.problems


def _held(own: pulumi.ResourceOptions, guessed: frozenset[str]) -> pulumi.ResourceOptions:
    """Return the options of a fleet that waits until all fleets are declared, if its former name
    was not said.
    """
    return pulumi.ResourceOptions.merge(own, once_declared(guessed)) if guessed else own


def _members(name: str, args: FleetArgs) -> tuple[dict[str, Member], list[Problem]]:
    """Return the members by name, and the problems of the members and of the fleet's name."""
    declared = [
        Member(
            cluster, args.kubeconfigs.get(cluster.name), provider=args.providers.get(cluster.name)
        )
        for cluster in args.source.clusters
    ]
    everyone = [*declared, *args.members]
    # Of several with one name the first counts; the others are among the problems.
    members = dict(sorted({member.name: member for member in reversed(everyone)}.items()))
    known = f"the members are: {', '.join(sorted(members)) or 'none'}"
    gone = {
        name: f"{known}; if it is gone: pulumi config rm --path {kubeconfig_key(name)}"
        for name in args.kubeconfigs
    }
    named = {
        "kubeconfigs": gone,
        "providers": dict.fromkeys(args.providers, known),
    }
    problems = [
        Problem(
            Message("no-member-declared", 'there is no member "{name}"', name=name),
            (field,),
            hints[name],
            follows=True,
        )
        for field, hints in named.items()
        # A lost member need not be declared any more.
        for name in sorted(set(hints) - set(members) - set(args.lost))
    ]
    in_program = {member.name for member in args.members}
    problems += [
        Problem(
            Message(
                "member-declared-program",
                'the member "{name}" is declared in the program',
                name=name,
            ),
            (field, name),
            f"Member(..., {argument}=...)",
        )
        for field, argument in (("kubeconfigs", "kubeconfig"), ("providers", "provider"))
        for name in sorted(in_program.intersection(getattr(args, field)))
    ]
    twice = sorted(
        name for name, times in Counter(member.name for member in everyone).items() if times > 1
    )
    problems += [
        Problem(
            Message("member-declared-twice", 'the member "{name}" is declared twice', name=name),
            hint="declare it once",
        )
        for name in twice
    ]
    problems += [
        Problem(
            Message(
                "cannot-name-member", '"{member}" cannot be the name of a member', member=member
            ),
            hint=f"its name {wrong[0]}",
        )
        for member in members
        if (wrong := subdomain_errors(member))
    ]
    # By identity, because the URN of a provider is an output, which is not known yet.
    brought = {
        name: id(member.provider) for name, member in members.items() if member.provider is not None
    }
    problems += same_cluster(brought, _SAME_PROVIDER)
    # Both separate the parts of resource names, see plan/names.py.
    if "/" in name or "@" in name or not name:
        problems.append(
            Problem(
                Message("cannot-name-fleet", '"{name}" cannot be the name of a fleet', name=name),
                hint="use letters, digits, - and .",
            )
        )
    marked = {
        text: attrs.evolve(member, lost=member.lost or text in args.lost)
        for text, member in members.items()
    }
    return marked, problems
