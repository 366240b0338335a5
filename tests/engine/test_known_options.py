"""Each operation of the engine is known here: a new option or command of the CLI is noticed."""

from __future__ import annotations

import re
import subprocess

import pytest

from tests.engine.driver import engine_or_skip

pytestmark = pytest.mark.engine
LIMITS = "target target-dependents exclude exclude-dependents"
"""Tried in ``test_limited_updates.py`` and ``test_operations.py``."""
OPTIONS = f"{LIMITS} replace target-replace refresh skip-preview skip-plugin-pre-install yes"
"""Further options of updates that tests of this folder use."""
OTHERS = """config config-file continue-on-error expect-no-changes ignore-protect parallel run-program
skip-config-validation strict"""
"""Tried in ``test_options.py``."""
SHOWN = """diff json message neo show-config show-full-output show-policy-remediations show-reads
show-replacement-steps show-sames show-secrets suppress-outputs suppress-permalink suppress-progress urns debug
help stack"""
"""What only chooses the stack, and what is shown."""
UNTRIED = (
    """attach-debugger config-path override-env policy-pack policy-pack-config secrets-provider"""
)
"""Options that no test tries on a fleet: the first two change what the program is given, a debugger holds it up,
policies need a plug-in of the engine, and the last one counts for a new stack alone."""
COMMANDS = {
    "state": "get move protect remove rename repair taint unprotect untaint upgrade",
    "stack": """change-secrets-provider drift export get graph history import list migrate new output remove
rename schedule select tag unselect webhook""",
}


def lines_of(command: str) -> list[str]:
    engine_or_skip()
    words = ["pulumi", *command.split(), "--help"]
    text = subprocess.run(words, capture_output=True, text=True, check=True).stdout
    return text.partition("Global Flags:")[0].splitlines()


def test_every_option_of_an_update_is_known() -> None:
    found = set(re.findall(r"(?m)^ +(?:-\w, )? *--([\w-]+)", "\n".join(lines_of("up"))))
    assert found == set(f"{OPTIONS} {OTHERS} {SHOWN} {UNTRIED}".split())


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_on_a_state_or_stack_is_known(command: str) -> None:
    listed = "\n".join(lines_of(command)).partition("Available Commands:")[2].partition("\n\n")[0]
    assert {line.split()[0] for line in listed.splitlines() if line.strip()} == set(
        COMMANDS[command].split()
    )
