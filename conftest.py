"""Settings of the tests of nbkit and of its packages."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings

# A busy machine is no reason for a test to fail, and the same examples are drawn each time, so that a failure is about
# the change. "nbkit-free" draws new ones: `make campaign`.
settings.register_profile("nbkit", deadline=None, derandomize=True, max_examples=50)
settings.register_profile("nbkit-free", deadline=None, max_examples=1000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "nbkit"))


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of real data; tests that need it are skipped where it is not there."""
    value = os.environ.get("NBKIT_DATA")
    if not value:
        pytest.skip("NBKIT_DATA is not set: no real data")
    folder = Path(value)
    if not folder.is_dir():
        pytest.skip(f"NBKIT_DATA is {folder}, which is no folder: no real data")
    return folder
