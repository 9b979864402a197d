"""One fusion by several models: none is dropped, and what is wrong with the pictures is nobody's fault but theirs."""

from dataclasses import replace

import numpy as np
import pytest

from engines.comparing import swappers
from engines.errors import Cancelled, InvalidOption, LicenceNotAccepted, ModelMissing, ModelUnknown, NoFace
from engines.options import MESH, FuseOptions
from engines.pipeline import Studio
from engines.runtime.memory import peak_memory
from engines.timing import Progress, Run
from engines.types import Pixels

QUICK = FuseOptions(strength=0.9, mode="live")


def test_a_model_that_is_not_there_is_told_and_the_others_are_compared(studio: Studio, astronaut: Pixels, officer: Pixels) -> None:
    seen: list[Progress] = []
    done = studio.compare(officer, astronaut, options=QUICK, run=Run(seen.append))
    assert [one.name for one in done] == list(swappers(studio.manifest))
    assert [(step.done, step.count) for step in seen if step.stage == "compare"] == [(n + 1, len(done)) for n in range(len(done))]
    mesh, *others = done
    assert mesh.state == "compared"
    assert mesh.result
    assert mesh.result.options == QUICK
    assert mesh.face
    assert mesh.face.similarity_after > mesh.face.similarity_before
    assert mesh.commercial
    assert min(mesh.first_ms, mesh.warm_ms) > 1
    assert mesh.memory_mb
    assert mesh.peak_mb
    assert 50 < mesh.memory_mb < mesh.peak_mb - 30  # Python, NumPy and OpenCV alone take more than these 30
    assert others
    for one in others:
        assert one.state in ("missing", "licence")
        assert isinstance(one.fault, ModelMissing | LicenceNotAccepted)
        assert not one.commercial
        told = one.as_dict()
        assert told["similarity_after"] is told["warm_ms"] is told["memory_mb"] is told["peak_mb"] is None
        assert told["error"]["hint"]
        assert told["licence"]


def test_the_pictures_faults_are_raised(studio: Studio, astronaut: Pixels) -> None:
    with pytest.raises(NoFace):
        studio.compare(astronaut, np.full((200, 200, 3), 128, np.uint8), [MESH])
    with pytest.raises(ModelUnknown):
        studio.compare(astronaut, astronaut, [MESH, "nobodys"])


def test_it_can_be_stopped(studio: Studio, astronaut: Pixels, officer: Pixels) -> None:
    run = Run(lambda progress: run.cancel() if progress.stage == "compare" else None)
    with pytest.raises(Cancelled):
        studio.compare(officer, astronaut, [MESH], run=run)


def test_a_twin_asks_the_networks_that_the_settings_name(studio: Studio) -> None:
    settings = replace(studio.settings, parser="somebodys_parser", occluder="somebodys_occluder")
    with Studio(settings, studio.manifest, studio.key) as asked:
        twin = asked.twin()
        for network in ("parser", "occluder"):
            with pytest.raises(InvalidOption, match="somebodys"):
                getattr(twin.models, network)
        assert (twin.models is asked.models, twin.known is asked.known, twin.ledger is asked.ledger) == (False, False, True)


def test_memory_that_was_given_back_is_still_seen() -> None:
    size = 300 << 20
    with peak_memory() as idle:
        pass
    with peak_memory() as busy:
        block = np.ones(size, np.uint8)
        assert block[-1]
        del block
    assert busy.bytes >= idle.bytes + size * 0.8
