"""Fixtures that the tests of nbkit have, too."""

from tests.conftest import browser, hubs_put_back, registries_put_back

__all__ = ["browser", "hubs_put_back", "registries_put_back"]
