"""The command ``fleet observe``: reads a hub, or plain clusters, into a directory that ``fleet
plan`` takes.
"""

from __future__ import annotations

import shlex
import sys
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path

import attrs
import click

from fleet_components.cli import options
from fleet_components.cli.azure_hub import ask_azure, azure_options, of_fleet
from fleet_components.cli.exit_status import ExitStatus
from fleet_components.cli.given_members import given_members, renamed
from fleet_components.cli.help import Command, under
from fleet_components.cli.interrupt import finished_first
from fleet_components.cli.progress import watch
from fleet_components.content.wire import to_json, to_yaml
from fleet_components.hub.azure.fleet_resource import FleetId
from fleet_components.hub.folder.clusters import check_without_hub, recorded_members
from fleet_components.hub.folder.header import Header, silences, time_text
from fleet_components.hub.folder.reading import observed_members
from fleet_components.hub.folder.writing import Changes, header_before, write_observation
from fleet_components.hub.listing import Listing, Query
from fleet_components.hub.observation import HubObservation
from fleet_components.hub.reading import read_hub
from fleet_components.hub.roles import first_queries, notes, role
from fleet_components.live.azure_fleet import FleetHubAnswer
from fleet_components.live.hub import HUB, ask_hub
from fleet_components.live.kubeconfig_file import context_of
from fleet_components.live.observation import members_alone, with_members
from fleet_components.model.message import Message
from fleet_components.model.problem import FleetError, Problem
from fleet_components.model.releases import TABLES
from fleet_components.review.documents.observed import Observed, observed_document
from fleet_components.review.documents.wire import as_data
from fleet_components.review.showing.observed import observed_view
from fleet_components.review.showing.terminal import printed
from fleet_components.systems.framework import System
from fleet_components.systems.registry import SYSTEMS

_plain = under("Members that are asked")


@click.command(
    cls=Command,
    examples={
        "a hub of KubeFleet, Azure Fleet Manager or Karmada": (
            "fleet observe --hub ~/.kube/config --out observed"
        ),
        "once more, or in a job that cannot know": (
            "fleet observe --hub ~/.kube/config --out observed --update"
        ),
        "the role that may do so": "fleet observe --rbac --hub ~/.kube/config",
        "plain clusters, without a hub": "fleet observe --members ~/.kube/config --out members",
    },
)
@click.option(
    "--hub",
    type=click.Path(path_type=Path),
    metavar="KUBECONFIG",
    help="A kubeconfig of the hub. It is only asked: nothing is written there.",
)
@click.option(
    "--context",
    default="",
    metavar="NAME",
    help="The context of --hub, instead of its current one.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Where to write; made to be committed.",
)
@click.option(
    "--update",
    is_flag=True,
    help=(
        "Bring DIR up to date, writing only what has changed; one that is missing or empty is made."
    ),
)
@click.option(
    "--secrets/--no-secrets",
    default=None,
    help=(
        "Ask for the data of Secrets, too, and write them as they are; or not even for their names."
        " [default: their metadata]"
    ),
)
@click.option(
    "--rbac",
    is_flag=True,
    help=(
        "Print the role with the least rights for that, instead: with --hub or --azure, and the"
        " same --no-secrets, that for this hub."
    ),
)
@click.option(
    "--system",
    type=click.Choice(SYSTEMS),
    help="Whose role --rbac prints without --hub, instead of both.",
)
@_plain(
    "--kubefleet",
    type=click.Choice(TABLES["kubefleet"].names),
    help=(
        "The release of KubeFleet that the hub runs, instead of what the image of its agent shows."
    ),
)
@_plain(
    "--karmada",
    type=click.Choice(TABLES["karmada"].names),
    help="The release of Karmada that the hub runs, which it does not show.",
)
@azure_options
@_plain(
    "--members",
    "members",
    multiple=True,
    metavar="[NAME=]KUBECONFIG[:CONTEXT]",
    help=(
        "A cluster whose nodes and pods are asked: without --hub a member, as is each context of"
        " KUBECONFIG; with it the member of that NAME, and what it says counts more than what the"
        " hub has of it. Repeatable."
    ),
)
@_plain(
    "--as",
    "kind",
    type=click.Choice(SYSTEMS),
    help=f"Whose members those without a hub are to be.  [default: {next(iter(SYSTEMS))}]",
)
@_plain(
    "--timeout",
    type=click.FloatRange(0.1, 3600),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long the hub has for all of its answers, and each member for its own.",
)
@options.output("text", "json")
@options.endings(
    changes="a file has changed", strict="Refuse an incomplete observation, and write nothing"
)
def observe(
    hub: Path | None,
    context: str,
    out: Path | None,
    update: bool,
    secrets: bool | None,
    rbac: bool,
    system: str | None,
    kubefleet: str | None,
    karmada: str | None,
    azure: FleetId | None,
    azure_login: str | None,
    members: tuple[str, ...],
    kind: str | None,
    timeout: float,
    output: str,
    strict: bool,
    detailed: bool,
) -> None:
    """Read a hub into DIR: its members, what it is asked for, what it has decided, and what runs
    where.

    `fleet plan DIR` right after has nothing to do. Then edit DIR, and the plan says what the hub
    would do. The hub is of KubeFleet, of Azure Fleet Manager or of Karmada, which it tells itself;
    it is asked for lists, and nothing is written there. The first run makes DIR and each later one
    takes --update; a job that runs both takes it always.
    """
    _check_usage(hub, azure, azure_login, context, out, members, kind, system, rbac=rbac)
    releases = {"kubefleet": kubefleet, "karmada": karmada}
    named = {setting: name for setting, name in releases.items() if name}
    if named and (rbac or not (hub or azure)):
        what = f"--{next(iter(named))} is the release of a hub that is observed"
        raise click.UsageError(f"{what}: give --hub or --azure")
    asking = _Asking(hub, context, azure, azure_login, secrets, timeout, named)
    if rbac:
        sys.stdout.write(
            _role_of_hub(asking) if hub or azure else _roles(system, no_secrets=asking.no_secrets)
        )
        return
    # _check_usage has refused a command line without --out.
    assert out is not None
    # Before anything is asked: without --update, an observed directory is refused.
    previous = header_before(out, update=update)
    if hub:
        found = _from_hub(asking, members)
    elif azure:
        found = _from_azure(asking, members)
    else:
        found = _from_clusters(SYSTEMS[kind or next(iter(SYSTEMS))], members, out, timeout)
    incomplete = strict and found.incomplete
    changes = Changes()
    if not incomplete:
        # Ctrl-C between two files would leave an observation of two times.
        with watch(f"writing {out}"), finished_first():
            changes = write_observation(
                out, found.observation, update=update, secrets=bool(secrets)
            )
    document = observed_document(
        found, changes, _silent(found, previous), out, time_text(previous.as_of) if previous else ""
    )
    view = observed_view(document)
    sys.stdout.write(to_json(as_data(document)) if output == "json" else printed(view))
    if incomplete:
        click.echo(
            "refused by --strict: not all that was asked for was answered; nothing is written",
            err=True,
        )
        sys.exit(ExitStatus.REFUSED)
    # Only after the first observation: later ones are routine, in a job perhaps.
    if output == "text" and previous is None:
        click.echo("\n  ".join(["\nnext:", *_next(found, out)]))
    any_change = changes.added or changes.changed or changes.removed
    sys.exit(ExitStatus.CHANGES if detailed and any_change else ExitStatus.FINE)


@attrs.frozen
class _Asking:
    """A way to ask a hub: the options of the command with these names."""

    hub: Path | None
    context: str
    azure: FleetId | None
    azure_login: str | None
    secrets: bool | None
    timeout: float
    releases: Mapping[str, str]

    @property
    def no_secrets(self) -> bool:
        """True if Secrets are not to be asked for."""
        return self.secrets is False

    @property
    def grant(self) -> str:
        """The command that grants what this hub is asked for."""
        options = {
            "--hub": self.hub,
            "--context": self.context,
            "--azure": self.azure,
            "--azure-login": self.azure_login,
        }
        given = [
            f"{option} {shlex.quote(str(value))}" for option, value in options.items() if value
        ]
        given += ["--no-secrets"] if self.no_secrets else []
        return f"fleet observe --rbac {' '.join(given)} | kubectl apply -f -"

    def fleet(self) -> FleetHubAnswer | None:
        """Return the fleet of Azure; None if it was not named."""
        return ask_azure(self.azure, self.azure_login, self.timeout) if self.azure else None

    def listing(self, kubeconfig: str, *, partly: bool = False) -> Listing:
        """Return what the hub of a kubeconfig answers."""
        secrets, no_secrets = bool(self.secrets), self.no_secrets
        listing = ask_hub(
            kubeconfig,
            secrets=secrets,
            no_secrets=no_secrets,
            partly=partly,
            timeout=self.timeout,
            watch=watch,
        )
        # The release that is named replaces what the image of the agent shows.
        return attrs.evolve(listing, release=self.releases.get(listing.system.NAME, ""))

    def kubeconfig(self) -> str:
        """Return the text of the kubeconfig that was given."""
        # Called for --hub only; Azure brings a kubeconfig of its own.
        assert self.hub is not None
        return context_of(self.hub, self.context, subject=HUB)


def _from_hub(asking: _Asking, members: Sequence[str]) -> Observed:
    """Return what a hub reports, and what some of its members report about themselves."""
    listing = asking.listing(asking.kubeconfig())
    with watch("reading what the hub has answered"):
        observation = read_hub(listing)
    return _with_members(asking, observation, listing, members)


def _from_azure(asking: _Asking, members: Sequence[str]) -> Observed:
    """Return what Azure and the hub of a fleet report; a fleet may have no hub."""
    fleet = asking.fleet()
    # Called with --azure only.
    assert fleet is not None
    listing = asking.listing(fleet.kubeconfig) if fleet.kubeconfig else None
    with watch("reading what the hub has answered"):
        observation = of_fleet(read_hub(listing) if listing else None, fleet)
    return _with_members(asking, observation, listing, members)


def _with_members(
    asking: _Asking, observation: HubObservation, listing: Listing | None, members: Sequence[str]
) -> Observed:
    given = given_members(members, observation.system.NAME)
    texts = {item.name: item.kubeconfig for item in given}
    observation = with_members(observation, texts, timeout=asking.timeout, watch=watch)
    return Observed(observation, listing, renamed(given), asking.grant)


def _from_clusters(system: System, members: Sequence[str], out: Path, timeout: float) -> Observed:
    """Return what clusters without a hub report."""
    check_without_hub(out)
    given = given_members(members, system.NAME)
    texts = {item.name: item.kubeconfig for item in given}
    # Members of the last observation keep their record; only those that are named are asked again.
    unasked = observed_members(out) - texts.keys()
    observation = members_alone(
        system, texts, recorded_members(out), unasked, timeout=timeout, watch=watch
    )
    return Observed(observation, None, renamed(given))


def _next(found: Observed, out: Path) -> tuple[str, ...]:
    """Return what to do after the first observation."""
    plan = f"fleet plan {shlex.quote(str(out))}"
    if found.has_hub:
        return (plan,)
    return (
        (
            f"write labels into {out / 'members'}, which stay, and objects with their policies into"
            f" {out}"
        ),
        plan,
    )


def _check_usage(
    hub: Path | None,
    azure: FleetId | None,
    azure_login: str | None,
    context: str,
    out: Path | None,
    members: Sequence[str],
    kind: str | None,
    system: str | None,
    *,
    rbac: bool,
) -> None:
    """Check that options fit together.

    Raises:
        click.UsageError: they do not.
    """
    if azure_login and azure is None:
        raise click.UsageError("--azure-login is a part of --azure: give that too")
    if azure and hub:
        raise click.UsageError("--azure finds the hub of the fleet itself: give it or --hub")
    hubs = hub is not None or azure is not None
    if context and hub is None:
        raise click.UsageError("--context is a part of --hub: give that too")
    if system and (hubs or not rbac):
        raise click.UsageError(
            "--system is for --rbac without --hub: a hub tells itself what it runs"
        )
    if kind and (hubs or not members):
        raise click.UsageError(
            "--as is for --members without --hub: a hub tells itself what it runs"
        )
    if rbac and (out or members):
        raise click.UsageError("--rbac prints a role alone: it takes neither --out nor --members")
    if not rbac and not hubs and not members:
        raise click.UsageError(
            "give --hub KUBECONFIG, or --members KUBECONFIG for clusters without a hub; or --azure"
            " RESOURCE_ID"
        )
    if not rbac and out is None:
        raise click.UsageError("give --out DIR, the directory to write")


def _silent(found: Observed, previous: Header | None) -> Mapping[str, str]:
    """Return the reason by member that has not answered, with what counts instead."""
    summary: dict[str, str] = {}
    known = {str(member["metadata"]["name"]) for member in found.observation.members}
    for name, silence in silences(found.observation.silent, previous).items():
        if found.has_hub:
            instead = "what the hub has of it counts"
        elif name in known:
            instead = "it is written with nothing but its name, since there is no old record of it"
        else:
            instead = f"its record of {silence.since} counts"
        summary[name] = f"{silence.why}; {instead}"
    return summary


def _role_of_hub(asking: _Asking) -> str:
    """Return the role for a hub as YAML."""
    fleet = asking.fleet()
    kubeconfig = fleet.kubeconfig if fleet else asking.kubeconfig()
    if not kubeconfig:
        raise FleetError(
            [
                Problem(
                    Message("no-hub-no-role", "has no hub, so there is no role to ask it"),
                    subject=f"fleet {asking.azure}",
                )
            ]
        )
    # The rights may still be missing: what is refused belongs into the role all the same.
    listing = asking.listing(kubeconfig, partly=True)
    return _role(listing, (*listing.answers, *listing.refused), no_secrets=asking.no_secrets)


def _roles(system: str | None, *, no_secrets: bool) -> str:
    """Return the roles for hubs of which nothing is known but the system, as YAML."""
    systems = [item for item in SYSTEMS.values() if system in (None, item.NAME)]
    first = (
        "For {}, before its policies are known: with --hub KUBECONFIG, what they select is added."
    )
    return "---\n".join(
        _role(*first_queries(item), first.format(item), no_secrets=no_secrets) for item in systems
    )


def _role(listing: Listing, queries: Sequence[Query], *more: str, no_secrets: bool) -> str:
    summary = [*notes(listing, queries, no_secrets=no_secrets), *more]
    lines = [f"# {line}" for text in summary for line in textwrap.wrap(text, 100)]
    return "\n".join([*lines, to_yaml(role(listing, queries, no_secrets=no_secrets))])
