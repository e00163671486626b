"""Key services for the tests of this folder."""

from collections.abc import Iterator

import pytest
from key_servers import KeyManagementService, key_management_service


@pytest.fixture(scope="session")
def aws() -> Iterator[KeyManagementService]:
    """AWS KMS, of which a process can have one."""
    with key_management_service() as running:
        yield running
