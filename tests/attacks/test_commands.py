"""No bot and no forge finds a command in a comment, wherever it stands: the patterns are those that they look with."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from fleet_components.forges.commands import APART
from fleet_components.forges.comment import comment_text

BOTS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "GitLab, quick actions": (r"(?m)^\s*/[a-z]", ("/merge", "  /approve", "/label ~x")),
    "Prow": (r"(?mi)^/(?:lgtm|approve|retest|ok-to-test)", ("/lgtm", "/approve no-issue", "/OK-to-test")),
    "Azure Pipelines": (r"(?i)/azp\s+run", ("/azp run", "please /azp run all", "(/AZP run)")),
    "a workflow that looks anywhere": (r"/(?:deploy|merge|rebase)\b", ("now /deploy", "`/merge`", '"/rebase"', "\\/merge")),
    "bors-ng": (r"(?i)\bbors:? (?:r[+-=]|try|merge|d[+=])", ("bors r+", "so bors: merge", "> bors try --x")),
    "homu": (r"\br(?:\+|-|=\w)(?:\W|$|\w*)", ("r+ rollup", "so r=me", "and r- now")),
    "triagebot": (r"\br\? *\w", ("r? somebody", "so r? a/team")),
    "Atlantis": (r"(?i)\batlantis\s+(?:plan|apply|unlock|help)", ("atlantis apply", "`Atlantis plan -d x`")),
    "Jenkins, a request builder": (
        r"(?is)test\W+this\W+please|ok\W+to\W+test|add\W+(?:author\W+)?to\W+whitelist|bot,\s+test\s+pull",
        ("retest this please", "so, Test this\nplease", "ok to test", "add to whitelist", "bot, test pull request"),
    ),
    "Jenkins by its name": (r"(?i)\bjenkins[,:]?\s+(?:re)?(?:test|run)", ("Jenkins, retest this", "jenkins run e2e")),
    "Kokoro": (r"(?i)\bkokoro:?\s+(?:re)?run", ("kokoro rerun", "Kokoro: run")),
    "Zuul, and contributor agreements": (
        r"(?i)\brecheck\b|\breverify\b|I have read the CLA",
        ("recheck", "Recheck please", "reverify", "I have read the CLA Document and I hereby sign the CLA"),
    ),
    "builds": (r"(?i)\bre-?(?:build|run|trigger|test)\b|\brun (?:ci|all tests)", ("rebuild", "re-run it", "run CI")),
    "PullApprove": (r"(?i)\b(?:lgtm|shipit)\b|:\+1:", ("LGTM", "so lgtm!", ":shipit:", ":+1:")),
    "CI systems": (
        r"(?i)\[(?:skip|no)\W+\w+\]|\[\w+ skip\]|\*\*\*NO_CI\*\*\*",
        ("[skip ci]", "x [ci skip]", "[no ci]", "[skip actions]", "***NO_CI***"),
    ),
    "mentions": (r"@[a-z]", ("@dependabot merge", "cc @everyone", "`@coderabbitai resolve`", "a@b")),
    "issues": (r"#\d|\bGH-\d|[!&]\d|&amp;\d", ("Fixes #12", "o/r#12", "GH-12", "AB#12", "!12", "a/b!12", "&12", "&amp;12")),
    "addresses of issues": (
        r"/(?:issues|pull|merge_requests|edit)/\d",
        (
            "https://github.com/o/r/issues/12",
            "https://github.com/o/r/pull/12",
            "https://gitlab.com/g/p/-/merge_requests/12",
            "https://dev.azure.com/o/p/_workitems/edit/12",
        ),
    ),
    "entities": (r"(?i)&(?:#0*64|#x0*40|commat|num|#35|excl|sol);", ("&#64;all", "&#x40;all", "&commat;all", "&num;12", "&#35;12")),
}  # fmt: skip


def commented(text: str, folder: Path) -> str:
    (folder / "review.md").write_text(text)
    return comment_text(folder)


@pytest.mark.parametrize("bot", BOTS)
def test_no_bot_finds_its_command(bot: str, tmp_path: Path) -> None:
    pattern, commands = BOTS[bot]
    for command in commands:
        for text in (
            command,
            f"{command} and more",
            f"```diff\n+ {command}\n{command}\n```",
            f"| `{command}` | **{command}** |",
        ):
            shown = commented(f"{text}\n", tmp_path)
            assert not re.search(pattern, shown), shown
            assert shown.replace(APART, "") == f"{text}\n"
        assert re.search(pattern, command), command


SAME = (
    "Deployment shop/storefront on aks-dublin, aks-iowa",
    "ClusterResourcePlacement shop: PickN 3 of 5 members, revision 0->1",
    "  + ConfigMap shop/storefront, Deployment shop/storefront on aks-texas",
    "image: jenkins/jenkins:lts, ghcr.io/runatlantis/atlantis:v0.30, nginx@sha256:0123",
    "path: /etc/shop/config.yaml, /metadata/labels; https://example.com/docs; ~/.kube/config; ./a/b",
    "<details><summary>1 of 2</summary></details><br/> &amp; &lt;a&gt; 2/3, n/a, 50 % of #members",
    "test shop, build it, run wave 2, approve it, r1, r-1, or-else",
    "- [ ] a [link](docs/review.md), ![image](x.png), `a != b`, `a && b`",
)


@pytest.mark.parametrize("text", SAME)
def test_a_review_stays_as_it_is(text: str, tmp_path: Path) -> None:
    assert commented(f"{text}\n", tmp_path) == f"{text}\n"
