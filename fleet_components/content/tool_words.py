"""Shows what helm, kustomize and git print on standard error, without the values and addresses in
it.

A line is shown where the whole of it has one of the forms below; what may follow is hidden. The
forms are those of helm 3.18 and 4.2 (pkg/action, pkg/engine), of kustomize 5.5
(api/internal/target, api/internal/accumulator), of the parser of YAML that both have, and of git
2.37 to 2.50 (setup.c, object-file.c, promisor-remote.c), as reading objects without fetching any
can end.
"""

from __future__ import annotations

import re

from fleet_components.model.text import count

HIDDEN = "hidden"
_MOST_LINES = 5
_PATH = r"/?[\w.-]+(?:/[\w.-]+)+"
_NAME = r"[\w.-]+"
_OBJECT = r"[0-9a-f]{4,64}"
_YAML = (
    r"yaml: (?:line \d+: )?(?:mapping values are not allowed in this context"
    r"|(?:could not find|did not find) expected (?:key|node content|'-' indicator|':'|',' or"
    r" '\]'|',' or '\}')"
    r"|found character that cannot start any token|found a tab character that violates indentation"
    r"|found unexpected end of stream|block sequence entries are not allowed in this context)"
)
_WHOLE = (
    r"Error: Chart\.yaml file is missing",
    rf"Error: found in Chart\.yaml, but missing in charts/ directory: {_NAME}(?:, {_NAME})*",
    r"Error: [Aa]n error occurred while checking for chart dependencies\. You may need to run"
    r" [`']helm dependency "
    r"build[`'] to fetch missing dependencies: found in Chart\.yaml, but missing in charts/"
    r" directory: "
    rf"{_NAME}(?:, {_NAME})*",
    rf"Error: YAML parse error on {_PATH}: error converting YAML to JSON: {_YAML}",
    rf"Error: template: {_PATH}:\d+:\d+: executing \"{_PATH}\" at <\.Values[\w.]*>: nil pointer"
    r" evaluating "
    r"interface \{\}\.\w+",
    # The same in lines, as helm 4 writes it.
    rf"Error: {_PATH}:\d+:\d+",
    rf"executing \"{_PATH}\" at <\.Values[\w.]*>:",
    r"nil pointer evaluating interface \{\}\.\w+",
    r"Error: values don't meet the specifications of the schema\(s\) in the following chart\(s\):",
    r"- at '(?:/[\w.-]+)*': got \w+, want \w+(?: or \w+)*",
    r"Error: unable to find one of 'kustomization\.yaml', 'kustomization\.yml' or 'Kustomization'"
    r" in directory "
    rf"'{_PATH}'",
    r"# Warning: '\w+' is deprecated\. Please use '\w+' instead\. Run 'kustomize edit fix' to"
    r" update your "
    r"Kustomization automatically\.",
    r"fatal: not a git repository(?: \(or any of the parent directories\): \.git)?",
    rf"fatal: not a git repository: '?{_PATH}'?",
    rf"fatal: cannot use bare repository '{_PATH}' \(safe\.bareRepository is 'explicit'\)",
    r"fatal: this operation must be run in a work tree",
    rf"fatal: bad config line \d+ in file {_PATH}",
    r"fatal: not a tree object",
    (
        r"fatal: (?:bad object|unable to read|unable to read tree|Not a valid (?:commit|object)"
        rf" name) \(?{_OBJECT}\)?"
    ),
    rf"fatal: (?:loose|packed) object {_OBJECT} \(stored in {_PATH}\) is corrupt",
    rf"error: object file {_PATH} is empty",
    rf"error: unable to unpack (?:{_OBJECT} header|header of {_PATH})",
    r"error: inflate: data stream error \([a-z ]+\)",
    rf"fatal: could not fetch {_OBJECT} from promisor remote",
    r"fatal: transport '[a-z]+' not allowed",
    r"warning: lazy fetching disabled; some objects may not be available",
)
_BEGIN = (
    rf"Error: execution error at \({_PATH}:\d+:\d+\)",
    rf"Error: template: {_PATH}:\d+(?::\d+)?",
    rf"Error: (?:YAML parse error on|parse error at) {_PATH}",
    r"Error: accumulating (?:resources|components)",
    r"Error: trouble configuring builtin [A-Z]\w+ with config",
    (
        r"Error: (?:invalid Kustomization|loading KV pairs|merging from generator|validation"
        r" failed|unable to load)"
    ),
    r"fatal: detected dubious ownership in repository",
)
# The whole forms first, because some of them begin like a form whose rest is hidden.
_FORMS = re.compile(rf"(?P<whole>{'|'.join(_WHOLE)})|(?P<begin>{'|'.join(_BEGIN)})[: ].*")


def words(text: str) -> str:
    """Return what a tool says on its standard error, in one line; empty if it says nothing."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    shown = [line for line in map(_shown, lines) if line]
    # Lines of an unknown form, and those beyond the limit.
    more = len(lines) - len(shown[:_MOST_LINES])
    if more and not shown:
        return HIDDEN
    return "; ".join(
        (*shown[:_MOST_LINES], *([f"and {count(more, 'line')} {HIDDEN}"] if more else []))
    )


def _shown(line: str) -> str:
    found = _FORMS.fullmatch(line)
    if found is None:
        return ""
    return found["whole"] or f"{found['begin']}: {HIDDEN}"
