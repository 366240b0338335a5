"""The help of a command: what it does, examples that work, its options by what they are about, how
it ends.
"""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

import click

from fleet_components.cli.exit_status import meanings
from fleet_components.options import BEFORE, PLANNED

F = TypeVar("F", bound=Callable[..., Any])


class Option(click.Option):
    """An option with its section of the help.

    Args:
        section: the heading of the section; empty for what is of one command alone.
    """

    def __init__(self, *args: Any, section: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.section = section


def under(section: str) -> Callable[..., Callable[[F], F]]:
    """Return ``click.option`` for the options of a section."""
    return partial(click.option, cls=Option, section=section)


WIDEST, NARROWEST = 100, 30
"""Widths of a help, however wide the terminal is."""


class _Formatter(click.HelpFormatter):
    """Formatter for narrow terminals too, that breaks no line within an option or a name, as click
    does at hyphens.
    """

    def __init__(
        self, indent_increment: int = 2, width: int | None = None, max_width: int | None = None
    ) -> None:
        columns = min(shutil.get_terminal_size().columns, max_width or WIDEST)
        super().__init__(indent_increment, width or max(columns - 2, NARROWEST), max_width)

    def write_text(self, text: str) -> None:
        """Write a text, folded."""
        super().write_text(text.replace("-", _UNBROKEN))

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Write a list of two columns."""
        # click folds at hyphens too: a character that looks alike keeps names and options in one
        # piece.
        texts = [(term, text.replace("-", _UNBROKEN)) for term, text in rows]
        # At most three eighths for the terms, so that the second column stays readable.
        super().write_dl(texts, min(col_max, self.width * 3 // 8), col_spacing)

    def getvalue(self) -> str:
        """Return what was written."""
        return super().getvalue().replace(_UNBROKEN, "-")


class HelpContext(click.Context):
    """Context whose help is formatted so."""

    formatter_class = _Formatter


_UNBROKEN = "\N{NON-BREAKING HYPHEN}"
OWN = "Options"
planned, before = under(PLANNED), under(BEFORE)
reached = under("Members that are asked")
printed = under("Output")


class Command(click.Command):
    """A command of ``fleet``.

    Attributes:
        examples: command lines that work, by what each is for.
    """

    context_class = HelpContext

    def __init__(self, *args: Any, examples: Mapping[str, str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.examples = examples

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the examples and the sections of options; the own options of the command come
        first.
        """
        with formatter.section("Examples"):
            formatter.write("\n".join(self._examples(formatter)))
        sections: dict[str, list[tuple[str, str]]] = {OWN: []}
        last = OWN
        for param in self.get_params(ctx):
            record = param.get_help_record(ctx)
            if record is None or isinstance(param, click.Argument):
                continue
            # --help has no section: it stays in that of the option before it.
            if param is not self.get_help_option(ctx):
                last = getattr(param, "section", "") or OWN
            sections.setdefault(last, []).append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading):
                    formatter.write_dl(records)

    def _examples(self, formatter: click.HelpFormatter) -> Iterator[str]:
        """Yield the examples; command lines are to be copied, and not folded."""
        indent = " " * formatter.current_indent
        for why, line in self.examples.items():
            shown = textwrap.fill(
                why, formatter.width, initial_indent=f"{indent}# ", subsequent_indent=f"{indent}# "
            )
            yield f"{shown}\n{indent}{line}\n"

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the exit statuses that the command has."""
        options = {option for param in self.params for option in param.opts}
        with formatter.section("Exit status"):
            formatter.write_dl(
                [(str(int(status)), meaning) for status, meaning in meanings(options).items()]
            )
