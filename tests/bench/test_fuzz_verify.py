"""A seeded sample of the hostile files; `python -m bench.fuzz_verify` does ten thousand."""

from pathlib import Path

import numpy as np
import pytest

from bench.fuzz_verify import CHANGES, KEY, dressed, run, seeds
from engines.provenance.verify import verify


def test_no_crash_and_no_false_made_here(tmp_path: Path) -> None:
    found = run(240, 3, tmp_path)
    assert found.crashes == ()
    assert found.false == ()
    assert found.verdicts["made_here"] > 10  # ours, that came through
    assert found.verdicts["unreadable_image"] > 10
    assert sum(found.verdicts.values()) == 240


@pytest.mark.parametrize("format", ["png", "jpg", "webp", "avif", "mp4", "mp4 in fragments"])
def test_another_picture_in_our_words(tmp_path: Path, format: str) -> None:
    """Labels and signature of ours on a picture that isn't: the words are shown as what they are, and the signature as broken."""
    made, signer = seeds(tmp_path, [format])
    files = {each.name: each.data for each in made}
    stolen = dressed(files[f"nobody.{format}"], files[f"ours.{format}"], np.random.default_rng(0))
    found = verify(stolen, "", KEY, 10, deep=False, trust=lambda: signer.identity.trust)
    assert (found.verdict, found.id) == ("marked", None)
    assert found.credentials is None or found.credentials.state in ("tampered", "invalid")
    assert len({change.__name__ for change in CHANGES}) == 6
