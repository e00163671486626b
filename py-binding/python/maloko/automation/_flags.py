"""Arguments of operations, as flags of the command line."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any

from maloko.automation.errors import UnsupportedError

# A flag is called as its argument.
_VALUES = (
    "message",
    "color",
    "parallel",
    "plan",
    "save_plan",
    "import_file",
    "config_file",
    "otel_traces",
    "page",
    "lock_timeout",
)
_LISTS = ("target", "exclude", "replace", "policy_packs", "policy_pack_configs")
# The official name of an argument that is given more than once as a flag.
_SINGULAR = {"policy_packs": "--policy-pack", "policy_pack_configs": "--policy-pack-config"}
_SWITCHES = (
    "expect_no_changes",
    "clear_pending_creates",
    "diff",
    "target_dependents",
    "exclude_dependents",
    "exclude_protected",
    "suppress_outputs",
    "suppress_progress",
    "continue_on_error",
    "refuse_import_differences",
    "refresh",
    "debug",
    "isolated",
    "json",
)
_WITHOUT_EFFECT = {
    "log_flow": "there are no child processes to log",
    "log_verbosity": "the engine keeps no log beside its events",
    "log_to_std_err": "the engine keeps no log beside its events",
    "tracing": "give the address of an OpenTelemetry collector as `otel_traces`",
}
_REFUSED = {
    "attach_debugger": "the program runs in this process: attach the debugger to it",
    "converter": "other tools' states are not converted",
    "converter_args": "other tools' states are not converted",
}


def flags(arguments: Mapping[str, Any]) -> list[str]:
    """The flags for arguments by name; what was not given is left out.

    :raises UnsupportedError: for an argument without which the operation would not be what was asked for
    :raises TypeError: for a text where a list is meant
    """
    return list(_flags(arguments))


def _flags(arguments: Mapping[str, Any]) -> Iterator[str]:
    for name, value in arguments.items():
        flag = _SINGULAR.get(name, f"--{name.replace('_', '-')}")
        if name == "run_program":
            if value is not None:
                yield f"{flag}={str(value).lower()}"
        elif not value:
            # False as well: the official API leaves such a flag out.
            continue
        elif name in _REFUSED:
            raise UnsupportedError(f"{name}: {_REFUSED[name]}")
        elif name in _WITHOUT_EFFECT:
            warnings.warn(f"{name} has no effect: {_WITHOUT_EFFECT[name]}", stacklevel=5)
        elif name in _VALUES:
            yield from (flag, str(value))
        elif name in _LISTS and isinstance(value, str):
            raise TypeError(f"{name} takes a list, and {value!r} is a text: write {name}=[{value!r}]")
        elif name in _LISTS:
            for item in value:
                yield from (flag, item)
        elif name in _SWITCHES:
            yield flag
