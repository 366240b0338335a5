"""Plans the inputs of the command line: directories of YAML, or a Pulumi project."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.files import Text, decoded
from fleet_components.content.guarded import UnreadableError
from fleet_components.content.paths import read_stream
from fleet_components.hub.folder.reading import Remembered
from fleet_components.model.extras import extra_of, not_installed
from fleet_components.model.message import Message, Wording
from fleet_components.model.problem import FleetError, Problem, layered
from fleet_components.model.reader import present
from fleet_components.model.releases import Releases, names_in
from fleet_components.model.text import count, few
from fleet_components.model.watch import Watch, unwatched
from fleet_components.options import shared
from fleet_components.plan.claims import claimed
from fleet_components.plan.delivered import delivered
from fleet_components.plan.fleet import lacking, plan_fleet
from fleet_components.plan.fleet_plan import FleetPlan
from fleet_components.plan.guard import allowing
from fleet_components.plan.options import Options
from fleet_components.plan.past import Past
from fleet_components.plan.refusals import unused_tokens
from fleet_components.plan.source import Source, gather
from fleet_components.review.planning.observed import (
    observation_notes,
    start_in_words,
    state_among,
    without_others,
)
from fleet_components.review.planning.other_stacks import OtherStack
from fleet_components.review.planning.past import DEFAULT_FLEET, DEFAULT_STACK, StateFile, to_render
from fleet_components.review.planning.project import (
    asked_project,
    instead_of,
    only_of_a_project,
    read_project,
)
from fleet_components.review.planning.resource import ChangedResource
from fleet_components.review.planning.standing import StandingProblems
from fleet_components.review.planning.standing import on_hub as conditions_on_hub
from fleet_components.review.planning.unseen import (
    HubOnlyChange,
    for_hub,
    hub_only_changes,
    hub_only_warnings,
    with_unseen,
)

PIPED, STANDARD_INPUT = Path("-"), "standard input"


@attrs.frozen(kw_only=True)
class CommandLine:
    """The options of the command line that a plan depends on.

    Attributes:
        state: the state before.
        stack: the stack of a project; for directories, the name of the stack that they are planned
            as.
        as_of: the time at which observed members and waits are judged.
        confirm: tokens of refused losses that are allowed.
        approvals: names of the given approvals of staged updates.
        lost: names of members that are gone for good.
        returned: names of members that were lost and are back.
        pass_over: unsupported kinds that do not prevent a plan.
        skip_checks: names of checks whose warnings are not wanted.
        plugins: import paths of plug-ins that decide with those of the real system.
        kubefleet: the name of the release of KubeFleet that decides; empty for that of the state.
        karmada: that of Karmada, likewise.
        any_state: whether a state of another project or stack is accepted.
        project: whether the path is a Pulumi project, whose program is to be run; a stack asks for
            it as well.
        program: whether programs may be run: that of a project, helm, kustomize.
        others: other stacks whose outputs a project reads.
        config: configuration values that count instead of those of the stack's file, by key.
        problems: problems of the options that can be found without the input.
        watch: receives what takes long.
    """

    state: StateFile = StateFile()
    stack: str | None = None
    as_of: datetime | None = None
    confirm: frozenset[str] = frozenset()
    approvals: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    returned: frozenset[str] = frozenset()
    pass_over: frozenset[str] = frozenset()
    skip_checks: frozenset[str] = frozenset()
    plugins: tuple[str, ...] = ()
    kubefleet: str = ""
    karmada: str = ""
    any_state: bool = False
    project: bool = False
    program: bool = True
    others: tuple[OtherStack, ...] = ()
    config: Mapping[str, str] = attrs.field(factory=dict)
    problems: tuple[Problem, ...] = ()
    watch: Watch = attrs.field(default=unwatched, eq=False)

    @property
    def releases(self) -> dict[str, str]:
        """The names of the releases that decide, by the setting that names each."""
        return {setting: name for setting, name in names_in(self).items() if name}

    def wrong(self, problems: Iterable[Problem]) -> CommandLine:
        """Return the same options with further problems."""
        return attrs.evolve(self, problems=(*self.problems, *problems))

    @contextmanager
    def together(self) -> Iterator[None]:
        """Run the body, which plans, and raise its problems together with those of the command
        line.

        Raises:
            FleetError: there is at least one problem.
        """
        found: tuple[Problem, ...] = ()
        try:
            yield
        except FleetError as error:
            found = error.problems
        problems = (*self.problems, *layered(self.state.problems, found))
        if problems:
            raise FleetError(problems)


@attrs.frozen
class Survey:
    """Result of planning, and where it came from.

    Attributes:
        plans: the plans of the fleets; one, unless a program has several fleets.
        file: the file of the state; empty for a new fleet.
        stack: the stack that objects are stamped with: ``organization/project/stack``, or its name
            for directories.
        subject: what was planned: paths and stack, or project, stack and directory.
        resources: the resources of a stack with their changes; None for directories, and if the
            update is refused.
        messages: what the program logged, as (level, text).
        against: what the plan starts from, in words; empty where the file of the state says it.
        unsure: what another memory could decide otherwise, in words, by the name of the subject.
        pending: names of the subjects of which what is compared with would change the same.
        standing: the conditions and warnings that are there already.
        observed: what is remembered of the hub that the plan starts from; None where it starts from
            no hub.
        hub_only: changes of policies that only that hub carries out.
        disregarded: what a reviewed branch says of hubs, and what is not believed, in words.
        after: returns the state after the update, as ``--state`` takes it; not to be called where
            that is refused.
    """

    plans: tuple[FleetPlan, ...]
    file: str
    subject: dict[str, Any]
    resources: tuple[ChangedResource, ...] | None = None
    messages: tuple[tuple[str, str], ...] = ()
    against: str = ""
    unsure: Mapping[str, str] = attrs.field(factory=dict)
    pending: frozenset[str] = frozenset()
    standing: StandingProblems = StandingProblems()
    observed: Remembered | None = None
    hub_only: tuple[HubOnlyChange, ...] = ()
    disregarded: tuple[str, ...] = ()
    after: Callable[[], Mapping[str, Any]] = attrs.field(kw_only=True, eq=False)

    @property
    def of_project(self) -> bool:
        """True for a Pulumi project, False for directories."""
        return "project" in self.subject

    @property
    def refused(self) -> tuple[Problem, ...]:
        """Reasons why the update is refused."""
        return tuple(problem for plan in self.plans for problem in plan.refused)


def survey(paths: Sequence[Path], command: CommandLine) -> Survey:
    """Plan a Pulumi project, or a fleet from files and directories.

    Args:
        paths: one project, or any number of files and directories, charts and kustomizations; ``-``
            for standard input.
        command: the options of the command line.

    Raises:
        FleetError: the input is invalid; carries its problems, and those of the command line.
    """
    project = project_among(paths, command)
    return _project(project, command) if project else _directory(paths, command)


def project_among(paths: Sequence[Path], command: CommandLine) -> Path | None:
    """Return the directory of the Pulumi project that the command line asks for; None for YAML.

    Raises:
        FleetError: there is a project that is not asked for or not allowed, or none where one is
            asked for.
    """
    folder = asked_project(
        paths, asked=command.project or bool(command.stack), allowed=command.program
    )
    # Options that have no effect are refused, since their author expects one.
    if folder is None and command.others:
        what = Message(
            "no-pulumi-project-reads", "is no Pulumi project, and reads no outputs of other stacks"
        )
        hint = (
            f"give the directory of the project that does; {command.others[0].options} has no"
            " effect here"
        )
        raise FleetError([Problem(what, file=str(paths[0]), hint=hint)])
    if folder is None and command.config:
        what = Message(
            "no-pulumi-project-no-configuration", "is no Pulumi project, and has no configuration"
        )
        hint = (
            f"give the directory of the project; --config {next(iter(command.config))} has no"
            " effect here"
        )
        raise FleetError([Problem(what, file=str(paths[0]), hint=hint)])
    if folder is None and command.project:
        hint = "give the directory that has it"
        raise FleetError(
            [
                Problem(
                    Message("no-pulumi-project-no", "is no Pulumi project: it has no Pulumi.yaml"),
                    file=str(paths[0]),
                    hint=hint,
                )
            ]
        )
    return folder


def of_its_stack(paths: Sequence[Path], command: CommandLine) -> CommandLine:
    """Return the options for commands that only read the state: one of another stack than theirs
    becomes a problem.

    Raises:
        FleetError: the project cannot be read.
    """
    if not command.stack:
        return command
    folder = project_among(paths, command)
    project = read_project(folder).name if folder else ""
    return of_stack(command, project, command.stack.rpartition("/")[2])


def of_stack(command: CommandLine, project: str, stack: str) -> CommandLine:
    """Return the options; a state of another project or stack becomes a problem, since nothing
    would be found in it.

    Args:
        command: the options of the command line.
        project: the project that is planned; empty for a directory, which has none.
        stack: the stack that is planned.
    """
    # The URNs of an observation are made up under the default names.
    its_project, its_stack = ("", "") if command.state.observed else command.state.stack
    same = its_stack == stack and (not project or its_project == project)
    if command.any_state or not its_stack or same:
        return command
    what = Message(
        "state-of-other-fleet",
        "is the state of {named}, not of {wanted}",
        named=_named(its_project, its_stack),
        wanted=_named(project, stack),
    )
    hint = f"pulumi stack export --stack {stack} --file FILE; or --any-state, if it is meant"
    return attrs.evolve(
        command, state=command.state.unread([Problem(what, file=command.state.file, hint=hint)])
    )


def _named(project: str, stack: str) -> str:
    return f"stack {stack}" + (f" of project {project}" if project else "")


def _directory(paths: Sequence[Path], command: CommandLine) -> Survey:
    if command.stack:
        command = of_stack(command, "", command.stack.rpartition("/")[2])
    command = on_hub(paths, command)
    with command.together():
        return survey_source(gathered_from(paths, command), paths, command)


def on_hub(paths: Sequence[Path], command: CommandLine) -> CommandLine:
    """Return the options with the state that an observed directory among the paths remembers of its
    hub.

    A state that is given counts instead. Times are judged as of the observation, unless another
    time is given.
    """
    # Standard input is read once, and never is an observed directory.
    files = [path for path in paths if path != PIPED]
    # Only if no state is given, not even one that could not be read: that one has problems.
    state = state_among(files) if command.state == StateFile() else command.state
    observed_at = state.observed.as_of if state.observed else None
    return attrs.evolve(command, state=state, as_of=command.as_of or observed_at)


def survey_source(source: Source, paths: Sequence[Path], command: CommandLine) -> Survey:
    """Plan a fleet that was read from paths.

    Args:
        source: the fleet.
        paths: the paths, to be named.
        command: the options of the command line.

    Raises:
        FleetError: the source or the options cannot be used.
    """
    observed = command.state.observed
    stack = command.stack or command.state.stack[1] or DEFAULT_STACK
    manifests = source.catalogue.manifests
    fleet, past, damaged = command.state.only(DEFAULT_FLEET)
    source = source.under(_releases(past, command))
    problems = layered(
        (*damaged, *_unnamed(past, command), *map(instead_of, source.problems)),
        lacking(source, past),
    )
    source = attrs.evolve(source, problems=problems)
    # Approvals of earlier updates stay given.
    approvals = tuple(sorted(command.approvals.union(past.settings.approvals)))
    of_command = {**shared(Options, command), "lost": _lost(source, past, command)}
    options = Options(
        stack=stack,
        fleet=fleet,
        settings=attrs.evolve(past.settings, approvals=approvals, plugins=command.plugins),
        hub=observed.system.NAME if observed and observed.hub else "",
        **of_command,
    )
    subject = {"paths": _shown(paths), "stack": stack}
    hub_only = hub_only_changes(observed, source) if observed and observed.hub else ()
    # For an observed hub, policies that only the hub carries out are named, not refused.
    source, passed_over = without_others(source) if observed else (source, ())
    try:
        with command.watch(f"planning {count(len(source.clusters), 'member')}"):
            plan = plan_fleet(source, past, options)
    except FleetError as error:
        # Problems are worded for what the user has in hand: options, and a hub instead of a state.
        located = (for_hub(problem) if options.hub else problem for problem in error.problems)
        raise FleetError(map(for_directory, located)) from error
    plan = with_unseen(plan) if observed and observed.hub else plan
    refused = map(for_directory, plan.refused)
    warnings = map(
        for_directory, (*plan.warnings, *claimed(plan), *only_of_a_project(source, past))
    )
    aged = [
        each for guest in present(manifests) for each in guest.warnings(manifests, command.as_of)
    ]
    stated = (
        (*observation_notes(observed, plan), *hub_only_warnings(hub_only), *passed_over)
        if observed
        else ()
    )
    plan = attrs.evolve(plan, refused=tuple(refused), warnings=(*stated, *aged, *warnings))
    return Survey(
        tuple(_with_messages([plan], command)),
        past.file,
        subject,
        against=start_in_words(command.state, paths),
        standing=conditions_on_hub(plan) if observed else StandingProblems(),
        observed=observed,
        hub_only=hub_only,
        after=lambda: to_render(stack, delivered(plan, redacted=True)),
    )


def _releases(past: Past, command: CommandLine) -> Releases:
    """Return the releases that decide: those that are named, else those of the observed hub or the
    last update.
    """
    return Releases.named(**{**names_in(past.settings), **command.releases})


def _unnamed(past: Past, command: CommandLine) -> Iterator[Problem]:
    """Yield a problem if the state was decided with plug-ins that the command line does not name.

    They are not loaded without being named, because that runs their code.
    """
    unnamed = [path for path in past.settings.plugins if path not in command.plugins]
    if unnamed:
        hint = (
            f"name them, which runs their code: {' '.join(f'--plugin {path}' for path in unnamed)}"
        )
        yield Problem(
            Message(
                "decided-plug-ins",
                "was decided with plug-ins: {unnamed}",
                unnamed=", ".join(unnamed),
            ),
            file=past.file,
            hint=hint,
        )


def _with_messages(
    plans: Sequence[FleetPlan], command: CommandLine, messages: Iterable[tuple[str, str]] = ()
) -> Iterator[FleetPlan]:
    """Yield the plans; warnings about options that have no effect in any plan are added to the
    first.

    A token may also allow what a program deletes beside its fleets: a message of the program then
    says so.
    """
    allowed = {token for plan in plans for token in plan.options.confirm - unused_tokens(plan)}
    allowed |= {
        token for token in command.confirm for _, text in messages if allowing(token) in text
    }
    lost = {name for plan in plans for name in plan.past.lost}
    allows, knows = (
        "nothing that is refused has this token",
        "as far as the state knows, it was not lost",
    )
    warnings = [
        *(
            Problem(
                Message("confirm-allows-nothing", "--confirm {token} allows nothing", token=token),
                hint=allows,
            )
            for token in sorted(command.confirm - allowed)
        ),
        *(
            Problem(
                Message(
                    "returned-changes-nothing", "--returned {member} changes nothing", member=member
                ),
                hint=knows,
            )
            for member in sorted(command.returned - lost)
        ),
    ]
    for plan in plans:
        yield attrs.evolve(plan, warnings=(*plan.warnings, *warnings))
        # An option is for all fleets, so its warning is shown once.
        warnings = []


def for_directory(problem: Problem) -> Problem:
    """Return a problem worded for a directory, which has options instead of configuration keys."""
    return attrs.evolve(problem, wording=problem.wording | Wording.DIRECTORY)


def _lost(source: Source, past: Past, command: CommandLine) -> frozenset[str]:
    """Return the lost members: those of the past that are still declared, and those of the command
    line.
    """
    declared = {cluster.name for cluster in source.clusters}
    known = past.lost.intersection(declared)
    return command.lost | (known - command.returned)


def gathered_from(paths: Sequence[Path], command: CommandLine) -> Source:
    """Return the fleet in files and directories, as far as it can be read; ``-`` stands for
    standard input.

    Raises:
        FleetError: standard input is asked for twice, or cannot be read.
    """
    # Standard input can only be read once.
    asked = paths.count(PIPED) + (command.state.file == STANDARD_INPUT)
    if asked > 1:
        raise FleetError(
            [
                Problem(
                    Message("asked-twice", "is asked for twice"),
                    file=STANDARD_INPUT,
                    hint="give one of the two as a file",
                )
            ]
        )
    with command.watch(f"reading {few(_shown(paths))}"):
        given = (_piped() if path == PIPED else path for path in paths)
        return gather(
            *given, build=command.program, hub=bool(command.state.observed), watch=command.watch
        )


def _shown(paths: Sequence[Path]) -> list[str]:
    return [STANDARD_INPUT if path == PIPED else str(path) for path in paths]


def read_standard_input() -> bytes:
    """Return the content of standard input.

    Raises:
        FleetError: it is larger than a file may be.
    """
    try:
        return read_stream(sys.stdin.buffer)
    except UnreadableError as error:
        raise FleetError([error.problem(STANDARD_INPUT)]) from None


def _piped() -> Text:
    """Read standard input; if it is empty, most likely the command before the pipe has failed.

    Raises:
        FleetError: standard input is empty, or is not text.
    """
    text = decoded(read_standard_input(), STANDARD_INPUT)
    if not text.strip():
        hint = (
            "see whether the command before the pipe has failed; set -o pipefail ends a script"
            " there"
        )
        raise FleetError([Problem(Message("is-empty", "is empty"), file=STANDARD_INPUT, hint=hint)])
    return Text(STANDARD_INPUT, text)


def _project(folder: Path, command: CommandLine) -> Survey:
    project = read_project(folder)
    try:
        # Imported here, because directories are planned without Pulumi, which need not be
        # installed.
        from fleet_components.review.planning.preview import preview
    except ModuleNotFoundError as error:
        module = (error.name or "").partition(".")[0]
        if not extra_of(module):
            raise
        hint = f"{not_installed(module).hint}, or plan the directory of its YAML"
        what = Message(
            "pulumi-project-not-installed",
            "is a Pulumi project, and {module} is not installed here",
            module=module,
        )
        raise FleetError([Problem(what, file=str(folder), hint=hint)]) from error
    seen = preview(project, command)
    name = seen.stack.rpartition("/")[2]
    subject = {"project": project.name, "stack": name, "directory": str(folder)}
    plans = tuple(_with_messages(seen.plans, command, seen.messages))
    return Survey(
        plans, command.state.file, subject, seen.resources, seen.messages, after=seen.after
    )
