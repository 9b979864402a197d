"""What the tests of the page and the commands share."""

from collections.abc import Iterator

import pytest

from engines.pipeline import Studio
from engines.settings import Settings


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Studio]:
    with Studio.open(Settings(data_dir=tmp_path_factory.mktemp("data"))) as opened:
        yield opened
