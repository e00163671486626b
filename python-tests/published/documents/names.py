"""The names that blocks of the documents use and do not define, for the type checker."""

import dataclasses as dataclasses
from dataclasses import dataclass as dataclass
from typing import Any

import pulumi as pulumi
import pytest as pytest
from bucket import BucketProvider as BucketProvider
from bucket import FakeCloud as FakeCloud
from hypothesis import strategies as st
from pulumi.dynamic import CheckFailure as CheckFailure
from pulumi.dynamic import CheckResult as CheckResult
from pulumi.dynamic import CreateResult as CreateResult
from pulumi.dynamic import ReadResult as ReadResult
from pulumi.dynamic import Resource as Resource
from pulumi.dynamic import ResourceProvider as ResourceProvider

import maloko as maloko
from maloko import automation as auto
from maloko.testing import ProviderLaws as ProviderLaws
from maloko.testing import Stack
from maloko.testing import lifecycle_machine as lifecycle_machine

Label: Any
P: Any
QueueClient: Any
QuotaExceeded: type[Exception]
connect: Any
make: Any
no_public_buckets: Any
passphrase: str
program: Any
props: dict[str, Any]
provider: Any
queue: Any
s: Stack
stack: auto.Stack
token: str
user: Any
inputs: st.SearchStrategy[dict[str, Any]]


class QueueProvider(ResourceProvider):
    """For blocks that do not define it themselves."""

    def __init__(self, connection: Any = None) -> None: ...
