"""A second invisible watermark beside ours, by the package invisible-watermark (extra `marks`), for programs that look for one of its kind.

It is a claim that anybody can write, and fragile; what proves is our own mark, which is written over it. The message is the same for all
installations: it tells the program and no picture. `dwtDct` and `dwtDctSvd` carry its 48 bits, `rivaGan` the first 32, by a network.
The package imports torch on its first line, so it is imported when it is first used. It marks no picture under 65,536 pixels.
"""

from importlib.util import find_spec
from typing import Any, Literal, get_args

import numpy as np

from engines.errors import ExtraMissing
from engines.provenance.foreign import KNOWN, OURS, SMALLEST, read_foreign
from engines.types import Pixels

SecondMark = Literal["none", "dwtDct", "dwtDctSvd", "rivaGan"]
METHODS = get_args(SecondMark)
_RIVA_BITS = 32


def check_second(method: SecondMark) -> None:
    """Tells before the work that the package isn't there. Raises `ExtraMissing`."""
    if method != "none" and find_spec("imwatermark") is None:
        raise ExtraMissing(packages="invisible-watermark", extra="marks")


def write_second(pixels: Pixels, method: SecondMark) -> Pixels | None:
    """A marked copy of (H, W, 3) uint8 RGB; `pixels` itself where the message is read already; None where the picture is too small.

    Raises:
        ExtraMissing: the package isn't installed.
    """
    if pixels.shape[0] * pixels.shape[1] < SMALLEST:
        return None
    found = read_foreign(pixels)
    if found is not None and (found.name, found.method) == (OURS, method):
        return pixels
    encoder = _package(method).WatermarkEncoder()
    encoder.set_watermark("bits", _message(method))
    made = encoder.encode(np.ascontiguousarray(pixels[..., ::-1]), method)
    return np.ascontiguousarray(np.asarray(made)[..., ::-1], np.uint8)


def read_riva(pixels: Pixels) -> int:
    """How many of `rivaGan`'s 32 bits are our message's. Half are, by chance, and more in some pictures: 32 tell something, 24 nothing.

    Raises:
        ExtraMissing: the package isn't installed. ValueError: the picture is under 65,536 pixels.
    """
    if pixels.shape[0] * pixels.shape[1] < SMALLEST:
        raise ValueError("rivaGan reads no picture under 65,536 pixels")
    bits = _package("rivaGan").WatermarkDecoder("bits", _RIVA_BITS).decode(np.ascontiguousarray(pixels[..., ::-1]), "rivaGan")
    return int((np.asarray(bits).astype(int) == _message("rivaGan")).sum())


def _message(method: SecondMark) -> list[int]:
    return [int(bit) for bit in KNOWN[OURS]][: _RIVA_BITS if method == "rivaGan" else None]


def _package(method: SecondMark) -> Any:
    try:
        import imwatermark
    except ImportError as missing:
        raise ExtraMissing(packages="invisible-watermark", extra="marks") from missing
    if method == "rivaGan":
        imwatermark.WatermarkEncoder.loadModel()  # kept by the package
    return imwatermark
