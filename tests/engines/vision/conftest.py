"""Fixtures of the vision tests."""

from collections.abc import Callable

import pytest

from engines.errors import FusionError
from engines.types import Frame
from engines.vision import io


@pytest.fixture(scope="session")
def attempt() -> Callable[..., Frame | FusionError]:
    """(bytes, megapixels = 1) → the frame, or the typed error; any other exception is the test's failure."""

    def make(data: bytes, max_megapixels: float = 1.0) -> Frame | FusionError:
        try:
            return io.decode(data, "x", max_megapixels)
        except FusionError as error:
            return error

    return make
