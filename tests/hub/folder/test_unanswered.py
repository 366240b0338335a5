"""What a hub does not answer is not gone: its old record stays, and a plan says what it does not know."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import attrs
import pytest

from fleet_components import FleetError
from fleet_components.hub.folder.reading import read_observation
from fleet_components.hub.folder.writing import write_observation
from fleet_components.hub.listing import FORBIDDEN, Listing, Query
from fleet_components.hub.reading import STEERING, missing, read_hub
from fleet_components.plan.stored import Keeper
from fleet_components.review.planning.survey import CommandLine, Survey, survey
from fleet_components.systems.kubefleet.hub.queries import AGENT
from tests.delivery.karmada.recording import Recording as KarmadaRecording
from tests.delivery.kubefleet.recording import Recording
from tests.hub.folder.hubs import texts
from tests.hub.karmada.api import Api
from tests.hub.karmada.recorded import ControlPlane
from tests.hub.kubefleet.recorded import RecordedHub
from tests.vectors import recordings

NAMES = [(of, name) for of in (Recording, KarmadaRecording) for name in recordings(of.folder)]
FEW = [name for name in NAMES if "depend" in name[1] or "envelope" in name[1]]
WHY = "is forbidden to the user of the kubeconfig"


def ended(of: type[Recording | KarmadaRecording], name: str) -> Listing:
    """What the hub of a recording answers in the end."""
    recording = of.kept(name)
    if isinstance(recording, Recording):
        return [listing for _, listing in RecordedHub(recording).listings()][-1]
    hub = ControlPlane(recording)
    return Api(tuple([hub.objects(step) for step in recording.steps][-1])).listing()


def without(whole: Listing, refused: Callable[[Query], bool]) -> Listing:
    """What the hub answers where some requests are refused."""
    listing = Listing(
        whole.system, whole.as_of, whole.served, secrets=whole.secrets, release=whole.release
    )
    while queries := missing(listing):
        told = {query: whole.answers.get(query, ()) for query in queries if not refused(query)}
        listing = listing.with_answers(told, {query: WHY for query in queries if refused(query)})
    return listing


def is_essential(query: Query) -> bool:
    return f".{query.group}".endswith(STEERING)


def said(folder: Path) -> tuple[Survey, list[str]]:
    """The plan of a directory, with its warnings."""
    found = survey([folder], CommandLine())
    return found, [warning.what for plan in found.plans for warning in plan.warnings]


@pytest.mark.samples(1)
@pytest.mark.parametrize(
    ("of", "name"),
    [pytest.param(*item, marks=() if item in FEW else pytest.mark.long) for item in NAMES],
)
def test_whatever_is_refused_nothing_is_removed_and_the_plan_says_so(
    of: type[Recording | KarmadaRecording], name: str, tmp_path: Path
) -> None:
    whole = ended(of, name)
    write_observation(tmp_path / "old", read_hub(whole), update=False)
    # Of the agent only the release is asked, which is said of the hub here.
    for number, query in enumerate(sorted(whole.answers.keys() - {AGENT})):
        refused = without(whole, lambda item, query=query: item == query)  # type: ignore[misc]
        if is_essential(query):
            with pytest.raises(FleetError) as caught:
                read_hub(refused)
            assert all(
                "fleet observe --rbac --hub KUBECONFIG" in problem.hint
                for problem in caught.value.problems
            )
            continue
        folder = tmp_path / str(number)
        shutil.copytree(tmp_path / "old", folder)
        for _ in range(2):
            assert write_observation(folder, read_hub(refused), update=True).removed == (), query
        assert any(query.kind in item and FORBIDDEN in item for item in said(folder)[1]), query
        # Answered again, nothing is left of it.
        write_observation(folder, read_hub(whole), update=True)
        assert texts(folder) == texts(tmp_path / "old"), query


@pytest.mark.parametrize(
    ("of", "name"),
    [pytest.param(*item, marks=() if item in FEW else pytest.mark.long) for item in NAMES],
)
def test_where_there_is_no_old_record_the_plan_says_that_it_does_not_know(
    of: type[Recording | KarmadaRecording], name: str, tmp_path: Path
) -> None:
    whole = ended(of, name)
    refused = without(whole, lambda query: not is_essential(query) and query != AGENT)
    write_observation(tmp_path / "hub", read_hub(refused), update=False)
    kinds = {query.kind for query in refused.refused}
    try:
        warnings = said(tmp_path / "hub")[1]
    except FleetError:
        return  # the plan needs what is not known, and says so
    for kind in kinds:
        assert any(
            kind in warning and "there is no old record of them" in warning for warning in warnings
        ), warnings
    names = {subject.name for subject in read_hub(whole).subjects}
    known = {subject.name for subject in read_hub(refused).subjects}
    told = read_observation(tmp_path / "hub", Keeper("local", "fleet")).unknown
    bound = {subject.name for subject in read_hub(whole).subjects if subject.done}
    assert bound & (names - known) <= set(told)


@pytest.mark.parametrize(("of", "name"), FEW[:1])
def test_the_record_keeps_its_time_and_edits_stay(
    of: type[Recording | KarmadaRecording], name: str, tmp_path: Path
) -> None:
    whole = ended(of, name)
    folder = tmp_path / "hub"
    write_observation(folder, read_hub(whole), update=False)
    query = next(
        answer
        for answer in sorted(whole.answers)
        if not is_essential(answer) and whole.answers[answer]
    )
    refused = attrs.evolve(read_hub(without(whole, lambda item: item == query)))
    for _ in range(2):
        write_observation(folder, refused, update=True)
        (account,) = read_observation(folder, Keeper("local", "fleet")).unanswered
        assert (account.kind, account.why) == (query.kind, WHY)
        assert account.since.startswith(whole.as_of.strftime("%Y-%m-%d"))
