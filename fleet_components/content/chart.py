"""A Helm chart, rendered as ``helm template`` does: without contacting a cluster and without
fetching anything.

Objects without a namespace get that of the release, as with ``helm install``. Hooks are skipped:
they belong to steps of an installation, which a fleet does not have.
"""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import attrs

from fleet_components.content.build import Build
from fleet_components.content.catalogue import DEFAULT_NAMESPACE
from fleet_components.content.files import CHART, Text
from fleet_components.content.guarded import UnreadableError, read_yaml
from fleet_components.content.paths import FETCHED, links_out, read_regular, resolved
from fleet_components.content.schema import fetching
from fleet_components.content.tool import Printed, as_argument, find_tool, run_tool
from fleet_components.model.manifest import Manifest
from fleet_components.model.message import Message
from fleet_components.model.problem import Problem
from fleet_components.model.text import count, few

HOOK = "helm.sh/hook"
_TEMPLATE = re.compile(r"^---\n# Source: (.+)\n", re.MULTILINE)
_VARIES = Message(
    "rendered-otherwise-each-time",
    "is rendered otherwise each time, so that every preview will show a change",
)


@attrs.frozen(kw_only=True)
class Chart(Build):
    """A chart with its settings.

    Attributes:
        release: name of the release.
        namespace: namespace of the release; ``default`` by default.
        value_files: files with values; later files override earlier ones.
        values: values that override those of all files.
        kube_version: the Kubernetes version in ``.Capabilities``; empty for the default of the
            installed helm.
        api_versions: API versions in ``.Capabilities`` besides those of Kubernetes.
    """

    release: str
    namespace: str = DEFAULT_NAMESPACE
    value_files: tuple[Path, ...] = ()
    values: Mapping[str, Any] = attrs.field(factory=dict)
    kube_version: str = ""
    api_versions: tuple[str, ...] = ()

    @classmethod
    def named(cls, folder: Path) -> Chart:
        """Return a chart without settings. The release has the name of the chart."""
        try:
            name = read_yaml(read_regular(folder / CHART))["name"]
        except (OSError, UnreadableError, KeyError, TypeError):
            name = ""  # helm says what is wrong with it.
        return cls(
            folder=folder,
            root=folder,
            release=name if isinstance(name, str) and name else "release",
        )

    @property
    def uses(self) -> frozenset[Path]:
        """The folder of the chart, and the value files."""
        return frozenset(resolved(path) for path in (self.folder, *self.value_files))

    @property
    def by_hand(self) -> str:
        """The command that prints the same; ``VALUES`` stands for a file with the declared
        values.
        """
        return shlex.join(["helm", *self._arguments("VALUES" if self.values else "")])

    def problems(self) -> Iterator[Problem]:
        """Yield a problem for each link that leads out, and each schema for which helm would fetch
        something.
        """
        for link in links_out(self.folder, self.root):
            yield self.problem(
                Message(
                    "link-leaves-chart",
                    "{link} is a link that leads out of {root}",
                    link=link,
                    root=self.root,
                ),
                "copy what it leads to",
            )
        for file, why in fetching(self.folder):
            yield self.problem(
                Message("chart-file-refused", "{file} {why}", file=file, why=why), FETCHED
            )

    def build(self, warnings: list[Problem]) -> list[Text]:
        """Return one text for each rendered template, named after the template.

        The chart is rendered twice, in parallel, to find templates that generate passwords or
        dates: output that differs between the two gives a warning.
        """
        # JSON is YAML, so that helm reads the values from its standard input as one more file.
        tool = find_tool("a Helm chart", "helm")
        arguments, given = self._arguments("-"), json.dumps(dict(self.values))
        # The processes do the work; the threads only wait for them.
        with ThreadPoolExecutor(2) as pool:
            first, second = pool.map(lambda _: run_tool(tool, arguments, given), range(2))
        if first.message:
            warnings.append(
                self.problem(
                    Message("helm-says", "helm says: {message}", message=first.message),
                    f"see what is printed: {self.by_hand}",
                )
            )
        texts, again = self._texts(first), self._texts(second)
        # In the order of the templates, and each once.
        varying = dict.fromkeys(text.file for text in texts if text not in again)
        hint = (
            "set the value that it makes up, a password for example, or give it from outside of the"
            " chart"
        )
        warnings += [Problem(_VARIES, hint=hint, file=file) for file in varying]
        return texts

    def placed(self, manifests: Iterable[Manifest], warnings: list[Problem]) -> Iterator[Manifest]:
        """Yield the objects with the namespace of the release, without hooks. Skipped hooks give a
        warning.
        """
        hooks = []
        for manifest in manifests:
            if is_hook(manifest):
                hooks.append(
                    f"{manifest.kind} {manifest.name} ({manifest.metadata['annotations'][HOOK]})"
                )
            else:
                yield self._in_namespace(manifest)
        if hooks:
            what = Message(
                "chart-passed-over",
                "{count} of the chart passed over: {hooks}",
                count=count(len(hooks), "hook"),
                hooks=few(hooks),
            )
            hint = "a fleet has no such steps: do by other means what they do"
            warnings.append(self.problem(what, hint))

    def _arguments(self, values: str) -> list[str]:
        """Return the arguments of helm.

        ``values`` is the file with the declared values, ``-`` for standard input; empty for none.
        """
        given = [*map(as_argument, self.value_files), *([values] if values else [])]
        files = [argument for file in given for argument in ("--values", file)]
        kube = ["--kube-version", self.kube_version] if self.kube_version else []
        apis = [argument for api in self.api_versions for argument in ("--api-versions", api)]
        # helm template omits the crds folder without this option, while helm install applies it.
        options = [
            "--namespace",
            self.namespace,
            "--include-crds",
            "--skip-tests",
            *kube,
            *apis,
            *files,
        ]
        # Behind the two dashes a name that begins with a dash is not an option.
        return ["template", *options, "--", self.release, as_argument(self.folder)]

    def _texts(self, printed: Printed) -> list[Text]:
        """Split the output by template. Helm prints the chart's name in front of each template's
        path.
        """
        # The pattern has a group, so that names of templates and their texts alternate.
        before, *parts = _TEMPLATE.split(printed.text)
        templates = (str(self.folder / path.partition("/")[2]) for path in parts[::2])
        texts = [
            Text(file, text, built=True) for file, text in zip(templates, parts[1::2], strict=True)
        ]
        return [Text(str(self.folder), before, built=True), *texts] if before.strip() else texts

    def _in_namespace(self, manifest: Manifest) -> Manifest:
        """Return the object with the release's namespace if it has none.

        Cluster-scoped objects lose it again in :meth:`Catalogue.of`, when the scope of all kinds is
        known.
        """
        if manifest.namespace:
            return manifest
        metadata = {**manifest.metadata, "namespace": self.namespace}
        return attrs.evolve(manifest, data={**manifest.data, "metadata": metadata})


def is_hook(manifest: Manifest) -> bool:
    """Return whether an object is a Helm hook."""
    return HOOK in (manifest.metadata.get("annotations") or {})
