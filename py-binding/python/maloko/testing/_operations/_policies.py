"""Policies that look at what the operations of a test do: objects of `pulumi_policy`, and the folders of packs."""

from __future__ import annotations

import asyncio
import base64
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from maloko._errors import MalokoError
from maloko.testing._values import decode

if TYPE_CHECKING:
    from maloko._run.host import Host

PACK = "policies"
"""What the pack of policies is called that have no pack."""


@dataclass(frozen=True)
class Violation:
    """A resource that violates a policy."""

    policy: str
    """The policy's name."""
    pack: str
    """Its pack's name; `policies` where the test gave it as an object."""
    level: str
    """`advisory` or `mandatory`."""
    severity: str | None
    """`low`, `medium`, `high` or `critical`; `None` where nobody says."""
    name: str
    """The resource's name."""
    urn: str
    """Its URN."""
    message: str
    """What is wrong."""


@dataclass(frozen=True)
class Remediation:
    """A resource that a policy rewrote."""

    policy: str
    """The policy's name."""
    pack: str
    """Its pack's name."""
    name: str
    """The resource's name."""
    urn: str
    """Its URN."""
    before: dict[str, Any]
    """Its inputs before; what is secret is `SECRET`."""
    after: dict[str, Any]
    """Its inputs after."""

    @classmethod
    def _of(cls, told: dict[str, Any]) -> Remediation:
        return cls(**{**told, "before": decode(told["before"]), "after": decode(told["after"])})


@dataclass(frozen=True)
class Policies:
    """The policies of one operation."""

    given: Sequence[Any]
    config: Mapping[str, Any] | None
    directory: Path

    def order(self, host: Host) -> dict[str, Any]:
        """The policies as an order has them, for a run with this host. Raises `MalokoError` for what is no policy."""
        folders = [str(self.directory / it) for it in self.given if isinstance(it, str | Path)]
        own = [it for it in self.given if not isinstance(it, str | Path)]
        order: dict[str, Any] = {"folders": folders, "config": self.config, "python": sys.executable}
        if own:
            order["own"] = _own(own, host)
        return order


def _own(policies: list[Any], host: Host) -> dict[str, str]:
    """Has policy objects answer to a callback of the host."""
    try:
        from pulumi.runtime.proto import analyzer_pb2 as proto
        from pulumi_policy import EnforcementLevel, Policy
        from pulumi_policy.policy import _PolicyAnalyzerServicer
    except ImportError as error:
        raise MalokoError(f"`policies` needs the package pulumi-policy, 1.21 or later: {error}") from None
    wrong = next((it for it in policies if not isinstance(it, Policy)), None)
    if wrong is not None:
        raise MalokoError(f"`policies` takes policies of pulumi_policy and folders of packs, not {wrong!r}")

    class Analyzer(_PolicyAnalyzerServicer):
        """The SDK's own; the configuration and the settings of the run are there already."""

        def _configure_runtime_settings(self) -> None:
            pass

    analyzer: Any = Analyzer(PACK, "0.0.1", policies, EnforcementLevel.ADVISORY)
    requests: dict[str, Any] = {
        "Configure": proto.ConfigureAnalyzerRequest,
        "Remediate": proto.AnalyzeRequest,
        "Analyze": proto.AnalyzeRequest,
        "AnalyzeStack": proto.AnalyzeStackRequest,
    }

    async def answer(request: bytes) -> Any:
        method, _, body = request.partition(b"\0")
        name = method.decode()
        message = requests[name].FromString(body)
        # On a thread: a policy that is a coroutine is run on a loop of its own.
        return await asyncio.to_thread(getattr(analyzer, name), message, None)

    host.callbacks[PACK] = answer
    # Policies see the settings of the program that runs, and not those of the test.
    del host.callbacks.contexts[PACK]
    info = analyzer.GetAnalyzerInfo(None, None)
    return {"token": PACK, "info": base64.b64encode(info.SerializeToString()).decode()}
