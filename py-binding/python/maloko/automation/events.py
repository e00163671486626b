"""The events of an operation: the classes of `pulumi.automation.events`."""

from __future__ import annotations

from pulumi.automation.events import (
    CancelEvent,
    DiagnosticEvent,
    DiffKind,
    EngineEvent,
    OpMap,
    OpType,
    PolicyEvent,
    PreludeEvent,
    PropertyDiff,
    ResOpFailedEvent,
    ResourcePreEvent,
    ResOutputsEvent,
    StdoutEngineEvent,
    StepEventMetadata,
    StepEventStateMetadata,
    SummaryEvent,
)

__all__ = [
    "CancelEvent",
    "DiagnosticEvent",
    "DiffKind",
    "EngineEvent",
    "OpMap",
    "OpType",
    "PolicyEvent",
    "PreludeEvent",
    "PropertyDiff",
    "ResOpFailedEvent",
    "ResOutputsEvent",
    "ResourcePreEvent",
    "StdoutEngineEvent",
    "StepEventMetadata",
    "StepEventStateMetadata",
    "SummaryEvent",
]
