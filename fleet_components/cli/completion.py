"""The command ``fleet completion``: prints the script that completes the command in a shell."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

from fleet_components.cli.help import Command

VARIABLE = "_FLEET_COMPLETE"
"""Environment variable by which the script asks for what completes a line; click derives it from
the command's name.
"""


@click.command(
    cls=Command,
    examples={
        "in ~/.bashrc, of bash 4.4 or newer": 'eval "$(fleet completion bash)"',
        "in ~/.zshrc, below compinit": 'eval "$(fleet completion zsh)"',
        "once, for fish": "fleet completion fish > ~/.config/fish/completions/fleet.fish",
    },
)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def completion(shell: str) -> None:
    """Print the script that completes fleet in a shell.

    Completed are commands, options, choices and paths, and the names of placements and members,
    which are read from the files in the DIR of the line. Nothing is run for that, neither a program
    nor helm or kustomize.
    """
    found = get_completion_class(shell)
    # The choices of the argument are shells that click knows.
    assert found is not None
    group = click.get_current_context().find_root().command
    click.echo(found(group, {}, "fleet", VARIABLE).source(), nl=False)
