"""A video's mark stands still, follows the scene slowly, and is heard through an encoder that takes it from each single frame."""

from io import BytesIO

import av
import cv2
import numpy as np
import pytest

from engines.provenance import detection, payload
from engines.provenance.allowance import Allowance
from engines.provenance.keys import MarkKey
from engines.provenance.video import PSNR, FrameMarker, FrameReader
from engines.provenance.watermark import embed
from engines.types import Floats, Pixels

WIDTH, HEIGHT = 640, 360
ID = "7F3-A91-C04"


def held_by_hand(photo: Pixels, count: int, times: int = 1) -> list[Pixels]:
    """640 × 360 frames, or some times that, of a still scene, the camera swaying by a few pixels, with its grain."""
    random = np.random.default_rng(4)
    size = WIDTH * times, HEIGHT * times
    frames = []
    for time in np.arange(count) / 30:
        moved = np.array([[1.3, 0, -10 + 3 * np.sin(3.7 * time)], [0, 1.3, -30 + 2 * np.cos(4.3 * time)]]) * times
        frame = cv2.warpAffine(photo, moved, size, flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
        frames.append(np.clip(np.rint(frame + random.normal(0, 1.5, (size[1], size[0], 1))), 0, 255).astype(np.uint8))
    return frames


def through_x264(frames: list[Pixels], quality: int, rate: int = 30) -> list[Pixels]:
    buffer = BytesIO()
    with av.open(buffer, "w", format="mp4") as file:
        stream = file.add_stream("libx264", rate=rate, options={"crf": str(quality)})
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = "yuv420p"
        for frame in frames:
            file.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        file.mux(stream.encode(None))
    buffer.seek(0)
    with av.open(buffer) as file:
        return [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]


def heard(frames: list[Pixels], key: MarkKey, deep: bool = False) -> detection.Reading:
    reader = FrameReader(key, deep)
    for frame in frames:
        reader.add(frame)
    assert reader.frames == len(frames)
    return reader.reading


@pytest.fixture(scope="module")
def frames(astronaut: Pixels) -> list[Pixels]:
    return held_by_hand(astronaut, 24)


@pytest.fixture(scope="module")
def marker(key: MarkKey) -> FrameMarker:
    return FrameMarker(key, WIDTH, HEIGHT, ID)


@pytest.fixture(scope="module")
def marked(marker: FrameMarker, frames: list[Pixels]) -> list[Pixels]:
    return [marker.mark(frame) for frame in frames]


def change(before: Pixels, after: Pixels) -> Floats:
    return np.asarray(after.astype(np.float32) - before)


def test_a_still_scene_is_changed_alike_in_every_frame(key: MarkKey, frames: list[Pixels]) -> None:
    marker = FrameMarker(key, WIDTH, HEIGHT)
    first = marker.mark(frames[0])
    assert (first != frames[0]).any()
    for _ in range(12):
        assert np.array_equal(marker.mark(frames[0]), first)


def test_texture_that_comes_and_goes_does_not_pump_the_mark(key: MarkKey) -> None:
    """Ripples, strong and weak in turn: a mark that followed each frame would swell and sink with them."""
    ripples = cv2.GaussianBlur(np.random.default_rng(6).normal(0, 1, (HEIGHT, WIDTH)), (0, 0), 1.5)
    scene = [np.clip(128 + ripples * size, 0, 255)[..., None].repeat(3, 2).astype(np.uint8) for size in (20, 50)] * 12
    still = FrameMarker(key, WIDTH, HEIGHT, ID)
    steady = [change(frame, still.mark(frame)) for frame in scene][6:]
    jumping = [change(frame, FrameMarker(key, WIDTH, HEIGHT, ID).mark(frame)) for frame in scene[:2]]

    def swelling(changes: list[Floats]) -> float:
        sizes = [float((one * jumping[1]).mean()) for one in changes]
        return (max(sizes) - min(sizes)) / float(np.mean(sizes))

    assert swelling(steady) < 0.35 * swelling(jumping)


def test_it_leaves_a_wall_when_texture_has_gone(key: MarkKey, frames: list[Pixels]) -> None:
    wall = np.full((HEIGHT, WIDTH, 3), 150, np.uint8)
    marker = FrameMarker(key, WIDTH, HEIGHT)
    for frame in frames[:6]:
        marker.mark(frame)
    alone = np.abs(change(wall, FrameMarker(key, WIDTH, HEIGHT, marker.id).mark(wall))).mean()
    after = [np.abs(change(wall, marker.mark(wall))).mean() for _ in range(25)]
    assert after[0] <= 2.1 * alone
    assert after[-1] <= 1.1 * alone


def test_each_frame_is_changed_less_than_a_picture(frames: list[Pixels], marked: list[Pixels]) -> None:
    for before, after in zip(frames, marked, strict=True):
        assert 10 * np.log10(255**2 / (change(before, after) ** 2).mean()) >= PSNR


def test_it_is_the_mark_that_pictures_have(key: MarkKey, marker: FrameMarker, frames: list[Pixels], marked: list[Pixels]) -> None:
    """A frame taken out of the video verifies as a picture does, and a picture's mark is read by the reader."""
    assert detection.detect(marked[3], key).id == marker.id
    assert heard([embed(frames[0], ID, key)], key).id == ID


def test_many_frames_tell_what_one_does_not(key: MarkKey, marker: FrameMarker, marked: list[Pixels]) -> None:
    random = np.random.default_rng(5)
    noisy = [np.clip(frame + random.normal(0, 80, frame.shape), 0, 255).astype(np.uint8) for frame in marked]
    assert heard(noisy[:1], key).id is None
    assert heard(noisy, key).id == marker.id
    assert heard(noisy, key).score > 2 * heard(noisy[:1], key).score


@pytest.fixture(scope="module")
def large(astronaut: Pixels, key: MarkKey) -> list[Pixels]:
    """24 marked frames of 1280 × 720."""
    marker = FrameMarker(key, WIDTH * 2, HEIGHT * 2, ID)
    return [marker.mark(frame) for frame in held_by_hand(astronaut, 24, 2)]


def small(frames: list[Pixels]) -> list[Pixels]:
    return [np.asarray(cv2.resize(frame, (854, 480), interpolation=cv2.INTER_AREA), np.uint8) for frame in frames]


@pytest.mark.parametrize(("rate", "reduced"), [(30, False), (15, False), (30, True)], ids=["720p", "15 a second", "480p"])
def test_it_is_heard_through_an_encoder(key: MarkKey, large: list[Pixels], rate: int, reduced: bool) -> None:
    sent = large[:: 30 // rate]
    assert heard(through_x264(small(sent) if reduced else sent, 28, rate), key).id == ID


def test_a_cut_video_is_heard_by_the_deep_search(key: MarkKey, large: list[Pixels]) -> None:
    part = [frame[40:660, 60:1200] for frame in through_x264(large[:12], 23)]
    assert heard(part, key).id is None
    assert heard(part, key, deep=True).id == ID


def test_nothing_is_heard_where_nothing_is(key: MarkKey, other_key: MarkKey, frames: list[Pixels], marked: list[Pixels]) -> None:
    for found in (heard(frames, key), heard(marked, other_key)):
        assert found.id is None
        assert found.score < 6.5
    assert FrameReader(key).reading == detection.Reading(None, 0.0)


def test_a_video_has_no_more_tries_than_a_picture(key: MarkKey, frames: list[Pixels], monkeypatch: pytest.MonkeyPatch) -> None:
    """However often it is asked: that is what the bound on false ids counts."""
    tried: list[int] = []
    monkeypatch.setattr(detection, "_PROMISING", 0.0)
    monkeypatch.setattr(payload, "decode", lambda *_: tried.append(1))
    reader = FrameReader(key)
    for frame in (frames * 2)[:40]:
        reader.add(frame)
        assert reader.reading.id is None
    assert len(tried) == Allowance().messages


def test_an_id_that_was_heard_stays(key: MarkKey, marker: FrameMarker, frames: list[Pixels], marked: list[Pixels]) -> None:
    reader = FrameReader(key)
    reader.add(marked[0])
    first = reader.reading
    for frame in frames:
        reader.add(frame)
    assert reader.reading is first
    assert first.id == marker.id


def test_another_size_is_refused(marker: FrameMarker, key: MarkKey, frames: list[Pixels]) -> None:
    with pytest.raises(ValueError, match="frame"):
        marker.mark(frames[0][:-2])
    reader = FrameReader(key)
    reader.add(frames[0])
    with pytest.raises(ValueError, match="size"):
        reader.add(frames[0][:-2])
    with pytest.raises(ValueError, match="not an id"):
        FrameMarker(key, WIDTH, HEIGHT, "7F3A91C04")
