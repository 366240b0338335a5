"""What the package knows of Azure carries its day; a plan warns once of what is old, and of versions out of support."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, timedelta
from importlib.resources import files
from pathlib import Path

import pytest

pytest.importorskip("pulumi_azure_native")

import pulumi
from hypothesis import given
from hypothesis import strategies as st

from fleet_components import FleetArgs, read_source
from fleet_components.azure import AzureFleet, AzureFleetArgs, provision
from fleet_components.azure.components.arm import FLEET_API as API_VERSION
from fleet_components.azure.values.aks_member import AksMember
from fleet_components.azure.values.dated import (
    CONSTANTS,
    FLEET_API,
    IN_TABLES,
    PATIENCE,
    age_warnings,
    dated,
    kubernetes_support,
)
from fleet_components.azure.values.vm_size import built_in_sizes, dates_in, notes_in, parse_sizes
from fleet_components.model.problem import FleetError
from fleet_components.review.planning.survey import CommandLine, survey
from tests.azure import world
from tests.azure.build import aks

ROOT = Path(__file__).parents[2]
GUIDE = " ".join((ROOT / "docs" / "azure.md").read_text().split())
SAMPLE = ROOT / "stacks" / "azure"
DATA = [Path(str(found)) for found in (files("fleet_components.azure") / "data").iterdir()]
DAY = timedelta(days=1)
FRESH = max(each.as_of for each in dated(built_in_sizes()))
EDGES = [
    each.as_of + PATIENCE + days for each in dated(built_in_sizes()) for days in (timedelta(), DAY)
]
OWN = "# sizes-as-of: {}\n# prices-as-of: {}\nsize,vcpus,memoryMiB,gpus,arch,westeurope\nStandard_D4s_v5,4,16384,0,amd64,0.1\n"
OLD = "what is known of Azure is more than"
ENDED = "out of support since"


def noon(day: date) -> datetime:
    return datetime(day.year, day.month, day.day, 12, tzinfo=UTC)


def _two(version: str) -> list[AksMember]:
    return [aks(name, kubernetes_version=version) for name in ("weu-1", "eus-1")]


def aged(texts: Iterable[object]) -> list[str]:
    return [str(text) for text in texts if OLD in str(text) or ENDED in str(text)]


@pytest.mark.parametrize("path", DATA, ids=lambda path: path.name)
def test_every_table_says_of_what_day_and_from_where_it_is(path: Path) -> None:
    notes = notes_in(path.read_text().splitlines())
    dates = dates_in(notes)
    assert dates
    assert {name for name in notes if name.endswith("-as-of")} == {f"{of}-as-of" for of in dates}
    assert {f"{of}-source" for of in dates} <= notes.keys()
    assert all(day <= datetime.now(UTC).date() for day in dates.values())


def test_everything_with_a_date_grows_old() -> None:
    in_data = {
        day for path in DATA for day in dates_in(notes_in(path.read_text().splitlines())).values()
    }
    assert {each.as_of for each in dated(built_in_sizes())} == in_data | set(CONSTANTS.values())
    assert all(day <= datetime.now(UTC).date() for day in CONSTANTS.values())


def test_the_guide_has_the_dates_of_the_data_and_no_others() -> None:
    chapter = GUIDE.partition("## Sizes, prices and dates")[2].partition("## ")[0]
    (shown,) = map(str, kubernetes_support().warnings(_two("1.33"), FRESH))
    assert f"Members shop: {shown}" in chapter
    chapter = chapter.replace(shown, "")
    said = {date.fromisoformat(text) for text in re.findall(r"\d{4}-\d\d-\d\d", chapter)}
    shipped = [each for each in dated(built_in_sizes()) if each.name != FLEET_API]
    assert said == {each.as_of for each in shipped} | {
        date.fromisoformat(API_VERSION),
        CONSTANTS[FLEET_API],
    }
    for each in shipped:
        assert f"| {each.name} | {each.as_of} |" in chapter
    assert f"| {FLEET_API}: {API_VERSION} | {CONSTANTS[FLEET_API]} |" in chapter
    assert f"{PATIENCE.days} days" in chapter


def test_the_estimate_of_the_guide_has_the_date_of_the_prices() -> None:
    assert f"list prices of {built_in_sizes().prices_as_of}" in GUIDE


@given(st.sampled_from(EDGES) | st.dates(date(2026, 1, 1), date(2029, 1, 1)), st.integers(1, 3))
def test_what_is_older_than_that_is_named_once(today: date, members: int) -> None:
    table = built_in_sizes()
    found = [
        warning
        for warning in age_warnings([aks(f"m-{n}") for n in range(members)], table, today)
        if OLD in warning.what
    ]
    old = [each for each in dated(table) if today > each.as_of + PATIENCE]
    assert len(found) == bool(old)
    for each in dated(table):
        assert any(str(each) in item.what for item in found) == (each in old)


def test_nothing_is_old_without_members() -> None:
    assert not list(age_warnings([], built_in_sizes(), date(2099, 1, 1)))


def test_a_table_of_ones_own_ages_by_its_own_dates() -> None:
    later = parse_sizes(OWN.format("2027-10-01", "2027-11-01"), "own.csv")
    (warning,) = age_warnings([aks()], later, date(2027, 12, 15))
    assert not any(name in warning.what for name in IN_TABLES.values())
    assert "read_sizes" not in warning.hint
    undated = parse_sizes(OWN.partition("\n")[2].partition("\n")[2], "own.csv")
    assert not any(each.own for each in dated(undated))


def test_a_date_that_is_none_is_refused() -> None:
    with pytest.raises(FleetError, match=r'own.csv:1: sizes-as-of: "spring" is not a date'):
        parse_sizes(OWN.format("spring", "2027-01-01"), "own.csv")


def ended(version: str, today: date, *, long_term: bool = False) -> list[str]:
    member = aks(kubernetes_version=version, tier="Premium", long_term_support=long_term)
    return [str(warning) for warning in kubernetes_support().warnings([member], today)]


@pytest.mark.parametrize("minor", sorted(kubernetes_support().versions), ids=str)
@pytest.mark.parametrize("patch", ["", ".3"])
def test_a_version_is_warned_of_from_the_day_after_its_last(
    minor: tuple[int, ...], patch: str
) -> None:
    version = ".".join(map(str, minor)) + patch
    known = kubernetes_support().versions[minor]
    assert known.ends < known.long_term_ends
    assert not ended(version, known.ends)
    (warning,) = ended(version, known.ends + DAY)
    assert (
        f"since {known.ends} (until {known.long_term_ends} it is supported only with longTermSupport)"
        in warning
    )
    assert f"as of {kubernetes_support().as_of}: weu-1" in warning
    assert not ended(version, known.long_term_ends, long_term=True)
    for long_term in (True, False):
        (warning,) = ended(version, known.long_term_ends + DAY, long_term=long_term)
        assert f"since {known.long_term_ends}, also with longTermSupport" in warning


def test_a_version_before_the_table_is_out_of_support_and_one_after_it_unknown() -> None:
    (warning,) = ended("1.20", date(2026, 1, 1))
    assert "Kubernetes 1.20 is out of support" in warning
    assert not ended("1.99", date(2099, 1, 1))


def test_a_version_is_warned_of_once_for_all_its_members() -> None:
    members = [
        aks(f"m-{n}", kubernetes_version=version)
        for n, version in enumerate(["1.31", "1.31.2", "1.32"])
    ]
    found = [
        str(warning)
        for warning in kubernetes_support().warnings([*members, aks("any")], date(2026, 11, 23))
    ]
    assert [re.findall(r"m-\d", text) for text in found] == [["m-0", "m-1"], ["m-2"]]


@pytest.mark.parametrize("text", re.findall(r'kubernetesVersion: "([\d.]+)"', GUIDE))
def test_the_versions_of_the_guide_are_in_support(text: str) -> None:
    assert not ended(text, FRESH)


def test_the_sample_is_in_support_and_warned_of_when_it_is_not() -> None:
    fresh = survey(
        [SAMPLE], CommandLine(as_of=noon(kubernetes_support().as_of + timedelta(days=90)))
    )
    assert ENDED not in " ".join(map(str, fresh.plans[0].warnings))
    late = survey([SAMPLE], CommandLine(as_of=noon(date(2030, 1, 1))))
    old, version = aged(late.plans[0].warnings)
    assert old.startswith(f"{SAMPLE / 'fleet.yaml'}:")
    assert "weu-1, neu-1, eus-1, neu-batch" in version


def test_a_fleet_warns_by_the_time_of_its_configuration_then_its_own_then_the_clock() -> None:
    late, soon = (
        datetime(2030, 1, 1, tzinfo=UTC),
        min(each.as_of for each in dated(built_in_sizes())) + DAY,
    )

    def program(as_of: datetime | None) -> AzureFleet:
        members = (aks("a", kubernetes_version="1.36"), aks("b", kubernetes_version="1.36"))
        return AzureFleet("shop", AzureFleetArgs(members=members, as_of=as_of))

    run = world.run(lambda: program(late))
    assert (run.error, len(aged(run.messages))) == (None, 2)
    assert all("on 2030-01-01" in text for text in run.messages if OLD in text)
    assert not aged(
        world.run(lambda: program(late), config={"fleet:asOf": f"{soon}T12:00:00Z"}).messages
    )
    assert (
        len(
            aged(
                world.run(
                    lambda: program(noon(soon)), config={"fleet:asOf": late.isoformat()}
                ).messages
            )
        )
        == 2
    )
    by_clock = aged(world.run(lambda: program(None)).messages)
    assert len(by_clock) == len(
        [*age_warnings([aks(kubernetes_version="1.36")], built_in_sizes(), _today())]
    )


def _today() -> date:
    return datetime.now(UTC).date()


def test_declared_members_are_warned_of_once_in_a_program() -> None:
    def program() -> None:
        args = FleetArgs(
            source=read_source(SAMPLE / "fleet.yaml"), as_of=datetime(2030, 1, 1, tzinfo=UTC)
        )
        pulumi.export("members", [member.name for member in provision("shop", args).members])

    run = world.run(program)
    assert (run.error, len(aged(run.messages))) == (None, 2)


def test_a_time_that_is_none_is_refused() -> None:
    run = world.run(
        lambda: AzureFleet("shop", AzureFleetArgs(members=(aks(),))), config={"fleet:asOf": "soon"}
    )
    assert "fleet:asOf" in str(run.error)
    assert "is not a time" in str(run.error)
