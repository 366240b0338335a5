"""Disarms words of a comment that a forge or a bot would obey, wherever they are in a line.

A character of no width parts each of them behind its beginning: people read the same, and a program
finds no command. It stands in code too, where bots look as well, and where an entity of HTML would
be shown.
"""

from __future__ import annotations

import re

APART = "\u200b"
_WORD = r"(?<![\w-])"
_FORMS = (
    # A user or a bot that is called, but not the digest of an image.
    r"@(?=[\w<-])(?!sha(?:256|512):)",
    # Quick actions of GitLab, at the beginning of a line. Prow, Tekton, Azure Pipelines (/azp run)
    # and many a workflow have the same form, some in any place. Paths of files, with a second slash
    # or a dot, are left.
    r"^[^\S\n]*/(?=\S)",
    r"(?<![\w/.:<~])/(?=[a-z][\w-]*(?![\w-]*[/.]))",
    # bors-ng and homu, Atlantis, and what bots of Jenkins are called.
    rf"{_WORD}b(?=ors\b)",
    rf"{_WORD}r(?=[+=?](?:\W|\w|$)|-(?:\s|$))",
    rf"{_WORD}a(?=tlantis\s+[a-z])",
    rf"{_WORD}[jkb](?=(?:enkins|okoro|ot)[,:]?\s+[a-z])",
    # Jenkins (GitHub Pull Request Builder), Zuul, the assistants of contributor agreements,
    # PullApprove.
    rf"{_WORD}(?:re)?t(?=est\W+(?:this|pull|all|it|please)\b)",
    rf"{_WORD}o(?=k\W+to\W+test\b)",
    rf"{_WORD}a(?=dd\W+(?:\w+\W+)?to\W+(?:white|allow)list\b)",
    rf"{_WORD}r(?=e-?(?:check|test|verify|build|run|trigger)\b)",
    rf"{_WORD}r(?=un\W+(?:ci|(?:\w+\W+)?tests?)\b)",
    rf"{_WORD}[ls](?=(?:gtm|hipit)\b)",
    r":(?=\+1:|shipit:)",
    rf"{_WORD}I(?=\W+have\W+read\W+the\b)",
    # CI systems that leave a run out.
    r"\[(?=(?:skip|no)\W+[a-z]+\]|[a-z]+\W+skip\])",
    r"\*(?=\*\*NO_CI\*\*\*)",
    # Issues, requests and epics, which get a note that they are mentioned, in other projects too.
    r"#(?=\d)",
    rf"{_WORD}G(?=H-\d)",
    r"[!&](?=\d)",
    r"&amp;(?=\d)",
    r"/(?:issues|pull|pulls|discussions|merge_requests|epics"
    r"|work_items|_workitems/edit|pullrequest)/(?=\d)",
    # Entities that a forge turns into such characters before it looks.
    r"&(?=#|(?:commat|num|excl|sol);)",
)
"""Beginnings of what is obeyed, each with what follows it. Names that a project gives its bots are
not among them.
"""
_COMMAND = re.compile("|".join(_FORMS), re.IGNORECASE | re.MULTILINE)


def disarmed(text: str) -> str:
    """Return a text in which no known bot and no forge finds a command, a mention or a
    reference.
    """
    return _COMMAND.sub(rf"\g<0>{APART}", text)
