"""Plans a Pulumi project: runs its program in process and compares what it registers with the state
before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import attrs
from pulumi.runtime import MockResourceArgs

from fleet_components import dynamic
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.option_values import WrongValueError, added
from fleet_components.options import FLAGS
from fleet_components.plan import names
from fleet_components.plan.departures import sent_before, unseen
from fleet_components.plan.describe import heading, not_fulfilled
from fleet_components.plan.feed import plan_at_hand
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import Pair
from fleet_components.plan.names import Urn
from fleet_components.plan.state import StackState, is_marked_secret, reveal
from fleet_components.plan.subject import Decided
from fleet_components.review.planning.other_stacks import OtherStack, lacking, unmatched
from fleet_components.review.planning.past import MADE_UP, StateFile
from fleet_components.review.planning.program import (
    after_project,
    from_here,
    inside,
    located,
    refused_plans,
    run_main,
    what_ended,
)
from fleet_components.review.planning.project import Project, choose_stack
from fleet_components.review.planning.resource import DELETE, REPLACE, UPDATE, ChangedResource
from fleet_components.review.planning.resources import STACK, compare, stored_in
from fleet_components.review.planning.stack_config import StackConfig, read_stack_config
from fleet_components.review.planning.survey import CommandLine, of_stack
from fleet_components.testing.mocks import PROVIDERS, CheckFailed, FleetMocks
from fleet_components.testing.other_stacks import REFERENCE
from fleet_components.testing.program import ProgramRun, run_program


class PlanMocks(FleetMocks):
    """Mocks that decide like :class:`FleetMocks`, and collect all refusals instead of stopping at
    the first.

    Args:
        state: the state before the run.
        stored: the outputs of the resources in the state by URN, with secrets marked.
        carried_out: whether resources answer as after the update, and not as in a preview.
    """

    def __init__(
        self,
        state: StackState,
        stored: Mapping[str, Mapping[str, Any]],
        *,
        carried_out: bool = False,
    ) -> None:
        super().__init__(state)
        self._carried_out = carried_out
        self.problems: list[Problem] = []
        self.plans: list[FleetPlan] = []
        # By type and name: the SDK tells mocks neither a URN nor a parent.
        self._stored = {
            (r.type, r.name): (r.id, stored.get(r.urn, {})) for r in state.resources.values()
        }

    def new_resource(self, args: MockResourceArgs) -> tuple[str | None, dict[str, Any]]:
        """Return the id and the outputs of a resource: those in the state for an existing one, no
        id for a new one.

        Outputs whose inputs change are those of the inputs, as in a preview of the engine.
        """
        made_up, outputs = super().new_resource(args)
        # Neither provider nor component has outputs in the state that a program reads.
        if args.typ in PROVIDERS or args.typ == REFERENCE or not args.custom:
            return made_up, outputs
        new = made_up if self._carried_out else args.resource_id or ""
        identity, stored = self._stored.get((args.typ, args.name), (new, {}))
        before = self.olds(args.typ, args.name)
        kept = {
            key for key in stored if key in before and before[key] == reveal(args.inputs.get(key))
        }
        changed = {key: value for key, value in outputs.items() if key not in kept}
        return identity, {**{key: _on_the_wire(value) for key, value in stored.items()}, **changed}

    def computes(self) -> bool:
        """Return whether outputs that no input gives are made up."""
        return self._carried_out

    def lacking(self, stack: str) -> Problem:
        """Return the problem of another stack, with the options that give its outputs."""
        return lacking(stack)

    def check(
        self, provider: dynamic.RecordProvider, typ: str, name: str, news: dict[str, Any]
    ) -> dict[str, Any]:
        """Run the ``check`` of a provider; collect a refusal, and return the old inputs then."""
        plan = (
            plan_at_hand(news[dynamic.FEED])
            if isinstance(provider, dynamic.RosterProvider)
            else None
        )
        if plan:
            self.plans.append(plan)
        try:
            return super().check(provider, typ, name, news)
        except CheckFailed as failed:
            self.problems.append(Problem(Message("other-error", "{reason}", reason=failed)))
            # The program goes on with these, so that further refusals are found in the same run.
            return {**news, **self.olds(typ, name)}


def _on_the_wire(value: Any) -> Any:
    """Return a value of the state as a provider returns it to the program: secrets stay marked."""
    if not is_marked_secret(value):
        return reveal(value)
    return {
        **{k: v for k, v in value.items() if k not in ("plaintext", "ciphertext")},
        "value": reveal(value),
    }


DEFAULT_ORGANIZATION = "organization"


@attrs.frozen
class Preview:
    """Result of planning a Pulumi project: what ``pulumi preview`` would show.

    Attributes:
        stack: the stack, as ``organization/project/stack``.
        plans: the fleets of the program.
        resources: what would happen to each resource; None where the update is refused.
        messages: what the program logged, as (level, text), without messages that repeat the plan.
        exports: the outputs of the stack in wire form, with secrets marked.
        after: returns the state after the update as an export; it runs the program once more.
    """

    stack: str
    plans: tuple[FleetPlan, ...]
    resources: tuple[ChangedResource, ...] | None
    messages: tuple[tuple[str, str], ...]
    exports: Mapping[str, Any]
    after: Callable[[], Mapping[str, Any]] = attrs.field(eq=False)


def preview(project: Project, command: CommandLine) -> Preview:
    """Plan a Pulumi project.

    Args:
        project: the project.
        command: the options of the command line. The time replaces the stack's ``fleet:asOf``;
            tokens and lost members are added to those of the stack.

    Raises:
        FleetError: the project or the stack cannot be read, or the program refuses its input or
            fails.
    """
    prefix, _, wanted = (command.stack or "").rpartition("/")
    name = choose_stack(project, wanted or None)
    command = of_stack(command, project.name, name)
    command = attrs.evolve(command, state=command.state.sound())
    organization = prefix.partition("/")[0] or DEFAULT_ORGANIZATION
    with command.together():
        settings = read_stack_config(project, name, command.config)
        stacks = _outputs_of_others(command)
        run, mocks = _run(project, organization, name, command, settings, stacks)
    refused = refused_plans(run.error)
    plans = refused or tuple(mocks.plans)
    # The engine calls the resource of a stack PROJECT-STACK.
    root = f"urn:pulumi:{name}::{project.name}::{STACK}::{project.name}-{name}"
    warned = tuple(_warnings_of(plans))
    # A render keeps no inputs of the program's own resources, so these cannot be compared with it.
    known = command.state.export is not None or not command.state.file
    compared = compare(run.registrations, root, command.state.export, *_before(plans), known=known)
    compared = compared if refused else tuple(_agreed(compared, plans))

    def after() -> Mapping[str, Any]:
        done, _ = _run(project, organization, name, command, settings, stacks, carried_out=True)
        return after_project(done, compared, plans, command.state.export)

    return Preview(
        f"{organization}/{project.name}/{name}",
        tuple(_located(plan, project, settings) for plan in plans),
        None if refused else compared,
        (
            *_unread(settings),
            *_made_up(command.state),
            *_unmatched(command, mocks),
            # What plans warn of is shown with them; the program has logged it once more.
            *(message for message in run.messages if not message[1].startswith(warned)),
        ),
        run.exports,
        after,
    )


def _outputs_of_others(command: CommandLine) -> dict[str, Mapping[str, Any]]:
    """Return the outputs of the other stacks of the command line, by name.

    Raises:
        FleetError: a state cannot be used, or a project cannot be planned.
    """
    found, problems = dict[str, Mapping[str, Any]](), list[Problem]()
    for other in command.others:
        try:
            misplaced = None if command.any_state else other.misplaced()
            if misplaced:
                raise FleetError([misplaced])
            found[other.name] = (
                other.exported() if other.folder is None else _planned(other, command)
            )
        except FleetError as error:
            problems += error.problems
    if problems:
        raise FleetError(problems)
    return found


def _planned(other: OtherStack, command: CommandLine) -> Mapping[str, Any]:
    """Return the outputs that an update of another stack would have, as far as they are known
    before it.
    """
    # Tokens, approvals and lost members are those of the stack that is asked for.
    alone = CommandLine(
        state=other.state,
        stack=other.name,
        as_of=command.as_of,
        plugins=command.plugins,
        kubefleet=command.kubefleet,
        karmada=command.karmada,
        any_state=command.any_state,
        project=True,
        # Without this stack, so that two stacks that read each other come to an end.
        others=tuple(stack for stack in command.others if stack is not other),
    )
    failed = Problem(
        Message("cannot-planned-outputs-needed", "cannot be planned, and its outputs are needed"),
        file=str(other.folder),
        subject=other.name,
    )
    project = other.project()
    try:
        seen = preview(project, alone)
    except FleetError as error:
        raise FleetError([failed, *error.problems]) from error
    refused = [problem for plan in seen.plans for problem in plan.refused]
    if refused:
        raise FleetError([failed, *refused])
    return seen.exports


def _unmatched(command: CommandLine, mocks: PlanMocks) -> list[tuple[str, str]]:
    """Return warnings about other stacks that the program does not read, or reads without knowing
    anything of them.
    """
    return [("warning", str(problem)) for problem in unmatched(command.others, mocks.stacks)]


def _before(
    plans: Iterable[FleetPlan],
) -> tuple[dict[tuple[str, str], Mapping[str, Any]], frozenset[str]]:
    """Return the objects that the last update has sent, by type and name, and the URNs of those
    that nobody can see.
    """
    sent, hidden = dict[tuple[str, str], Mapping[str, Any]](), set[str]()
    for plan in plans:
        for decided in plan.subjects:
            for cluster, data in sent_before(decided, plan.past):
                name = names.object_name(plan.options.fleet, decided.subject.key, cluster, data)
                sent[names.type_token(data), name] = data
        hidden.update(standing.urn for standing in unseen(plan.subjects, plan.past))
    return sent, frozenset(hidden)


def _agreed(
    resources: Iterable[ChangedResource], plans: Sequence[FleetPlan]
) -> Iterator[ChangedResource]:
    """Yield the resources, replaced too where a plan has the engine replace an object.

    Raises:
        FleetError: an object is deleted or replaced, and no list of the plan of its fleet has it.
    """
    standing = {item.urn: (plan, item) for plan in plans for item in plan.past.standing}
    unlisted = []
    for resource in resources:
        listed = True
        if resource.change == DELETE and (known := standing.get(resource.urn)):
            plan, stood = known
            # What is kept leaves the state alone, as in a move to a hub.
            listed = stood.gone or stood.kept or (stood.cluster, stood.key) in plan.left
        elif resource.change in (UPDATE, REPLACE) and (place := _place(resource, plans)):
            plan, pair = place
            anew = plan.replaced.get(pair)
            listed = resource.change == UPDATE or anew is not None
            resource = attrs.evolve(resource, change=REPLACE) if anew and anew.asked else resource
        unlisted += [] if listed else [resource]
        yield resource
    if unlisted:
        texts = {item.urn: _DISAGREE.filled(change=item.change) for item in unlisted}
        raise FleetError(
            Problem(text, subject=urn, hint=_DISAGREE_HINT) for urn, text in texts.items()
        )


def _place(resource: ChangedResource, plans: Sequence[FleetPlan]) -> tuple[FleetPlan, Pair] | None:
    """Return plan and place of an object that a fleet brings to a member; None of others."""
    for plan in plans if names.is_object(resource.type) else ():
        place = names.place_of(plan.options.fleet, Urn.parse(resource.urn))
        if place:
            return plan, (place.cluster, place.object)
    return None


# Both come from what the state has of each object, so that this is a mistake of the planner; or a
# transform changes a field that cannot be changed, or somebody else has, and a refresh has found
# it.
_DISAGREE = Message(
    "internal-error-tree-resources",
    "internal error: the tree of resources has the change {change}, and no list of the plan has the"
    " object",
)
_DISAGREE_HINT = (
    "do not update, as nothing guards this object; pulumi preview --diff shows which fields change"
)


def _located(plan: FleetPlan, project: Project, settings: StackConfig) -> FleetPlan:
    """Return the plan with the paths of files relative to the current directory, not to the
    program's.
    """

    def seen(problems: Iterable[Problem]) -> tuple[Problem, ...]:
        return tuple(located(problem, project, settings) for problem in problems)

    def moved(decided: Decided) -> Decided:
        subject: Any = decided.subject
        origin = from_here(subject.origin, project)
        return attrs.evolve(
            decided, subject=attrs.evolve(subject, warnings=seen(subject.warnings), origin=origin)
        )

    subjects = tuple(map(moved, plan.subjects))
    return attrs.evolve(
        plan, refused=seen(plan.refused), warnings=seen(plan.warnings), subjects=subjects
    )


def _warnings_of(plans: Iterable[FleetPlan]) -> Iterator[str]:
    """Yield the beginnings of log messages that repeat the plan."""
    for plan in plans:
        yield f"{plan.options.fleet}:\n"
        yield from map(str, (*plan.warnings, *plan.hidden))
        for decided in plan.subjects:
            yield f"{heading(decided)}\n"
            yield from map(str, decided.subject.warnings)
            yield not_fulfilled(decided)


def _unread(settings: StackConfig) -> list[tuple[str, str]]:
    """Return warnings about configuration that the Pulumi CLI reads and this package does not."""
    if not settings.file.data.get("environment"):
        return []
    return [
        (
            "warning",
            (
                f"{settings.file.path}: the stack's environment is not read, its values are missing"
                " here"
            ),
        )
    ]


def _made_up(state: StateFile) -> list[tuple[str, str]]:
    """Return a note if the state is one that a plan has saved."""
    if MADE_UP not in (state.export or {}):
        return []
    return [("info", f"{state.file} is what a plan has saved: as if that had been carried out")]


def _run(
    project: Project,
    organization: str,
    stack: str,
    command: CommandLine,
    settings: StackConfig,
    stacks: Mapping[str, Mapping[str, Any]],
    *,
    carried_out: bool = False,
) -> tuple[ProgramRun, PlanMocks]:
    state = command.state.state
    stored = {
        resource["urn"]: resource.get("outputs") or {}
        for resource in stored_in(command.state.export)
    }
    # New mocks for each run: they collect problems and plans.
    mocks = PlanMocks(state, stored, carried_out=carried_out)
    with command.watch(f"running the program of {project.name}"), inside(project):
        # The working directory and the modules of the program count only inside.
        run = run_program(
            lambda: run_main(project),
            state=state,
            project=project.name,
            stack=stack,
            organization=organization,
            config={**settings.values, **_configured(command, settings)},
            secret_keys=settings.secrets,
            stacks=stacks,
            mocks=lambda _: mocks,
        )
    # A refused plan is shown as a plan, and not as an error.
    problems = () if refused_plans(run.error) else mocks.problems or what_ended(run.error, project)
    if problems:
        raise FleetError(located(problem, project, settings) for problem in problems)
    return run, mocks


def _configured(command: CommandLine, settings: StackConfig) -> dict[str, str]:
    """Return the configuration keys that carry the options of the command line, merged with the
    stack's.
    """
    config = {"fleet:asOf": command.as_of.isoformat()} if command.as_of else {}
    config |= {f"fleet:{setting}": name for setting, name in command.releases.items()}
    for option, _ in FLAGS.values():
        more = getattr(command, option.name) if option.merge is added else ()
        less = command.returned if option.name == "lost" else frozenset[str]()
        if more or less:
            key = f"fleet:{option.key}"
            try:
                listed = option.parsed(settings.values.get(key, ""))
            except WrongValueError:
                continue  # the program says what is wrong with it
            # What is a set has no order; what is a list has the user's.
            named = more if isinstance(more, tuple) else sorted(more)
            config[key] = ",".join(name for name in added(listed, named) if name not in less)
    return config
