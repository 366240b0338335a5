"""Recordings of running hubs, replayed as a user's program over successive runs, and the rules for what may differ."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.delivery.karmada import known as karmada
from tests.delivery.karmada.recording import Recording as OfKarmada
from tests.delivery.karmada.replay import Replay as KarmadaReplay
from tests.delivery.kubefleet import known as kubefleet
from tests.delivery.passes import Passed, replay_of
from tests.delivery.replay import Known
from tests.vectors import recordings

DOCS = Path(__file__).parents[2]
RULES = {"karmada-live": karmada.KNOWN, "kubefleet-live": kubefleet.KNOWN}
ALL = [known for rules in RULES.values() for known in rules]


@pytest.mark.long
@pytest.mark.parametrize("folder", RULES)
def test_all_comes_to_what_was_recorded_each_rule_applies_and_nothing_else_passes(
    folder: str,
) -> None:
    passed = [Passed.of(replay_of(folder, name)) for name in recordings(folder)]
    assert [words for item in passed for words in item.unknown] == []
    applied = sum((item.rules for item in passed), Counter[str]())
    assert applied.keys() == {rule.why for rule in RULES[folder]}
    assert [words for item in passed for words in item.hidden] == []
    assert sum(item.tried for item in passed) > 20_000


@pytest.mark.parametrize("rule", ALL, ids=lambda rule: rule.why)
def test_each_rule_has_a_source(rule: Known) -> None:
    path, _, heading = rule.source.partition("#")
    if path.startswith("docs/"):
        titles = re.findall(r"^#+ (.*)$", (DOCS / path).read_text(), re.MULTILINE)
        assert heading in [
            re.sub(r"[^\w -]", "", title).lower().replace(" ", "-") for title in titles
        ]
    else:
        assert re.fullmatch(r"pkg/\S+\.go \((KubeFleet 0\.3\.1|Karmada 1\.19)\)", rule.source)


def test_no_rule_names_a_recording() -> None:
    names = {name for folder in RULES for name in recordings(folder)}
    modules = [
        "karmada/known.py",
        "kubefleet/known.py",
        "kubefleet/conditions.py",
        "kubefleet/behind.py",
    ]
    text = "".join((Path(__file__).parent / module).read_text() for module in modules)
    assert [name for name in names if re.search(rf"\b{re.escape(name)}\b", text)] in (
        [],
        ["taints"],
    )


@pytest.mark.parametrize("kind", karmada.REFUSED)
def test_what_is_not_carried_out_is_refused(kind: str) -> None:
    replay = KarmadaReplay(OfKarmada.kept("cluster_taint_policy"))
    assert any(
        re.match(f"refused: .*{karmada.REFUSED[kind]}", difference.words)
        for difference in replay.differences()
    )
