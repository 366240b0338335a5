"""Credentials of kubeconfigs that a plugin gives."""

from __future__ import annotations

import json
import os
import subprocess
import time
from base64 import b64encode
from typing import TYPE_CHECKING

from fleet_components.content.guarded import read_json

if TYPE_CHECKING:
    from lightkube.config.models import User, UserExec


def credential(plugin: UserExec, deadline: float) -> User:
    """Run a credential plugin. lightkube does so without a timeout, and supports neither API v1 nor certificates."""
    from lightkube.config.models import User

    # A plugin that asks its user something would wait for ever: it is told that nobody is there, and has no input.
    asked = {"kind": "ExecCredential", "apiVersion": plugin.apiVersion, "spec": {"interactive": False}}
    given = {each.name: each.value for each in plugin.env or ()}
    done = subprocess.run(
        [plugin.command, *(plugin.args or ())],
        env={**os.environ, "KUBERNETES_EXEC_INFO": json.dumps(asked), **given},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=deadline - time.monotonic(),
        check=True,
    )
    status = read_json(done.stdout)["status"]
    pair = [status.get("clientCertificateData"), status.get("clientKeyData")]
    # ExecCredential has certificates as PEM text, a kubeconfig has them in base64.
    certificate, key = (b64encode(text.encode()).decode() if text else None for text in pair)
    return User(token=status.get("token"), client_cert_data=certificate, client_key_data=key)
