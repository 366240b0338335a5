"""helm fetches nothing for schemas of values: neither for those in folders nor for those in packed charts."""

from __future__ import annotations

import gzip
import io
import json
import shutil
import tarfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from fleet_components.content import schema as archive
from fleet_components.content import tool
from fleet_components.content.chart import Chart
from fleet_components.content.load import load
from fleet_components.content.schema import fetching
from fleet_components.model.problem import FleetError
from tests.attacks.test_fetching import MAP, URL, address
from tests.tools import HELM, StandIns, stand_ins

__all__ = ["address"]

NAMED = "apiVersion: v2\nversion: 1.0.0\nname: "


def packed(
    files: Mapping[str, bytes | str], form: int = tarfile.PAX_FORMAT, **changes: Any
) -> bytes:
    """An archive of some files; changes are those of the headers."""
    written = io.BytesIO()
    with tarfile.open(fileobj=written, mode="w:gz", format=form) as tar:
        for name, text in files.items():
            content = text.encode() if isinstance(text, str) else text
            header = tarfile.TarInfo(name)
            header.size = len(content)
            for key, value in changes.items():
                setattr(header, key, value)
            tar.addfile(header, io.BytesIO(content))
    return written.getvalue()


def db(schema: bytes | str, folder: str = "db") -> dict[str, bytes | str]:
    return {f"{folder}/Chart.yaml": f"{NAMED}db\n", f"{folder}/values.schema.json": schema}


REFERENCE = json.dumps({"$ref": URL})
BASED = json.dumps({"$id": URL, "properties": {"a": {"$ref": "other.json"}}, "required": []})
LONG = "d" * 90 + "/" + "e" * 90
"""A folder that no header of ustar holds."""

ROWS: Mapping[str, Callable[[str], dict[str, bytes | str]]] = {
    name: lambda url, of=of: of(lambda text: text.replace(URL, url))  # type: ignore[misc]
    for name, of in {
        "a reference": lambda at: {"values.schema.json": at(REFERENCE)},
        "a reference in another one's property": lambda at: {
            "values.schema.json": at(
                json.dumps({"properties": {"a": {"anyOf": [{"$ref": f"{URL}#/a"}]}}})
            )
        },
        "a reference by escapes": lambda at: {
            "values.schema.json": at(REFERENCE)
            .replace("http", "\\u0068ttp")
            .replace("$ref", "\\u0024ref")
        },
        "a reference behind what YAML does not read": lambda at: {
            "values.schema.json": at(json.dumps({"default": {"k" * 2000: 1}, "$ref": URL}))
        },
        "a reference relative to an ID": lambda at: {"values.schema.json": at(BASED)},
        "a schema of schemas": lambda at: {"values.schema.json": at(json.dumps({"$schema": URL}))},
        "a byte order mark": lambda at: {"values.schema.json": "\ufeff" + at(REFERENCE)},
        "a chart in a folder": lambda at: {
            f"charts/{name}": text for name, text in db(at(REFERENCE)).items()
        },
        "a packed chart": lambda at: {"charts/db.tgz": packed(db(at(REFERENCE)))},
        "a packed chart of GNU tar": lambda at: {
            "charts/db.tgz": packed(db(at(REFERENCE)), tarfile.GNU_FORMAT)
        },
        "a packed chart with backslashes": lambda at: {
            "charts/db.tgz": packed(
                {name.replace("/", "\\"): text for name, text in db(at(REFERENCE)).items()}
            )
        },
        "a packed chart in a packed chart": lambda at: {
            "charts/db.tgz": packed({**db("{}"), "db/charts/deep.tgz": packed(db(at(REFERENCE)))})
        },
        "a chart in a packed chart": lambda at: {
            "charts/db.tgz": packed({**db("{}"), **db(at(REFERENCE), "db/charts/db")})
        },
    }.items()
}


def write(folder: Path, files: Mapping[str, bytes | str]) -> Path:
    for name, text in {
        "Chart.yaml": f"{NAMED}shop\n",
        "values.yaml": "a: 1\ndb: {db: {}}\n",
        **files,
    }.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


@pytest.fixture
def helm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> StandIns:
    """A tool of this name alone is on PATH, and no unshare."""
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.printing("helm", MAP)
    return tools


@pytest.mark.parametrize("row", ROWS)
def test_what_helm_would_fetch_is_refused(row: str, helm: StandIns, tmp_path: Path) -> None:
    with pytest.raises(FleetError, match="address"):
        load(write(tmp_path / "shop", ROWS[row]("http://127.0.0.1:1/x")))
    assert not helm.calls


@HELM
@pytest.mark.parametrize("row", ROWS)
def test_helm_fetches_it(
    row: str, address: tuple[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("helm")
    tools = stand_ins(tmp_path / "tools", monkeypatch)
    tools.add("helm", f'exec "{real}" "$@"')
    folder = write(tmp_path / "shop", ROWS[row](URL.replace("127.0.0.1:PORT", address[0])))
    with suppress(tool.ToolError):
        Chart.named(folder).build([])
    assert address[1]


def test_links_to_folders_are_followed(helm: StandIns, tmp_path: Path) -> None:
    write(
        tmp_path / "fleet",
        {
            "a.yaml": "{apiVersion: fleet-components/v1, kind: Chart, metadata: {name: web}, spec: {path: shop}}"
        },
    )
    (tmp_path / "fleet/Chart.yaml").unlink()
    (tmp_path / "fleet/values.yaml").unlink()
    write(tmp_path / "fleet/shop", {"charts/.keep": ""})
    write(tmp_path / "fleet/.elsewhere", db(REFERENCE))
    (tmp_path / "fleet/shop/charts/db").symlink_to(tmp_path / "fleet/.elsewhere/db")
    with pytest.raises(FleetError, match="address"):
        load(tmp_path / "fleet")
    assert not helm.calls


FINE: Mapping[str, dict[str, bytes | str]] = {
    "schemas of schemas that helm has": {
        "values.schema.json": json.dumps(
            {
                "$schema": "http://json-schema.org/draft-07/schema#",
                "properties": {
                    "a": {"type": "integer"},
                    "db": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
                },
            }
        )
    },
    "an ID": {
        "values.schema.json": json.dumps({"$id": URL, "$defs": {"a": {}}, "$ref": "#/$defs/a"})
    },
    "an address that is a text": {
        "values.schema.json": json.dumps({"description": URL, "default": {"a": URL}})
    },
    "packed charts": {
        "charts/db.tgz": packed({**db("{}"), "db/charts/deep.tgz": packed(db("{}"))}),
        "charts/long.tgz": packed({f"{LONG}/values.schema.json": "{}"}, tarfile.GNU_FORMAT),
        "charts/longer.tgz": packed({f"{LONG}/values.schema.json": "{}"}, mtime=1.5),
    },
    "what is no chart": {"files/a.tgz": b"\x1f\x8b", "files/b.json": REFERENCE},
}


@pytest.mark.parametrize("files", FINE.values(), ids=FINE)
def test_what_helm_finds_here_is_rendered(
    files: Mapping[str, bytes | str], helm: StandIns, tmp_path: Path
) -> None:
    assert load(write(tmp_path / "shop", files))


def moved(content: bytes, at: int, new: bytes) -> bytes:
    """An archive with other bytes at a place of its first header."""
    blocks = bytearray(gzip.decompress(content))
    blocks[at : at + len(new)] = new
    return gzip.compress(bytes(blocks))


USTAR = packed({"db/a": "x" * 600, **db(REFERENCE)}, tarfile.USTAR_FORMAT)
ODD: Mapping[str, tuple[bytes, str]] = {
    "no archive": (b"PK", "is not packed by gzip"),
    "half an archive": (USTAR[:-30], "is not packed by gzip"),
    "no tar": (gzip.compress(b"a" * 600), "readers of tar read alike"),
    "a file that is cut off": (gzip.compress(gzip.decompress(USTAR)[:700]), "ends in the middle"),
    # tarfile reads a size of 0 here, Go one of 600: where the content looks like an end, tarfile sees nothing more.
    "a size that tarfile does not read": (moved(USTAR, 124, b"\0"), "readers of tar read alike"),
    "a size of another base": (
        moved(USTAR, 124, b"\x80" + b"\0" * 9 + b"\x02\x58"),
        "readers of tar read alike",
    ),
    "a size of a pax header": (packed({"db/a": ""}, pax_headers={"size": "0"}), "of two sizes"),
    "a sparse file": (
        packed({"db/a": ""}, pax_headers={"GNU.sparse.realsize": "0"}),
        "of two sizes",
    ),
    "a link": (
        packed({"db/a": ""}, type=tarfile.SYMTYPE, linkname="/etc/passwd"),
        "neither a file nor a folder",
    ),
    "something behind the end": (
        gzip.compress(b"\0" * 1024 + gzip.decompress(USTAR)),
        "behind its end",
    ),
    "many levels": (b"", "more than 5 packed charts within one another"),
}


@pytest.mark.parametrize("row", ODD)
def test_an_archive_that_readers_could_read_in_two_ways_is_refused(
    row: str, tmp_path: Path
) -> None:
    content, why = ODD[row]
    for _ in range(0 if content else 7):
        content = packed({"db/charts/db.tgz": content})
    folder = write(tmp_path / "shop", {"charts/db.tgz": content})
    ((file, said),) = fetching(folder)
    assert (file, why in said) == (folder / "charts/db.tgz", True), said


@pytest.mark.parametrize("number", [1, 2])
def test_an_archive_that_unpacks_to_more_than_helm_takes_is_refused(
    number: int, tmp_path: Path
) -> None:
    part = packed({"a": b"\0" * (archive.MOST_BYTES // number + 1)})
    content = part if number == 1 else packed({f"db/charts/{n}.tgz": part for n in range(number)})
    ((_, said),) = fetching(write(tmp_path / "shop", {"charts/db.tgz": content}))
    assert said == "unpacks to more than 100 MiB"


@pytest.mark.parametrize("text", ["", "{", "[" * 3000, '{"a": "\\ud800"}'])
def test_a_schema_that_cannot_be_read_is_refused(text: str, helm: StandIns, tmp_path: Path) -> None:
    with pytest.raises(FleetError, match=r"values\.schema\.json is n"):
        load(write(tmp_path / "shop", {"values.schema.json": text}))
    assert not helm.calls
