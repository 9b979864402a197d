"""Fixtures that every room shares."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from numpy.typing import NDArray

settings.register_profile("unhurried", deadline=None)  # a loaded machine is no fault
settings.load_profile("unhurried")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The page comes last: the small tests tell sooner, and Playwright's event loop runs in this thread from its first test on."""
    items.sort(key=lambda item: "e2e" in item.path.parts)


@pytest.fixture(scope="session")
def astronaut() -> NDArray[np.uint8]:
    """A public-domain portrait: (512, 512, 3) RGB, one face of 99 px, smiling."""
    from skimage.data import astronaut as picture

    return np.ascontiguousarray(picture())


@pytest.fixture(scope="session")
def officer_path() -> Path:
    """A public-domain portrait on disk: 512 × 600 JPEG, one face of 183 px, glasses and a cap."""
    from matplotlib.cbook import get_sample_data

    return Path(str(get_sample_data("grace_hopper.jpg", asfileobj=False)))


@pytest.fixture(scope="session")
def officer(officer_path: Path) -> NDArray[np.uint8]:
    """The pixels of `officer_path`: (600, 512, 3) RGB."""
    from PIL import Image

    with Image.open(officer_path) as picture:
        return np.asarray(picture.convert("RGB")).copy()
