"""The watermark on frames that lie on a device: the same mark as `engines.provenance.watermark` writes, without their coming back.

What decides on the mark is the picture reduced to its canvas, at most 512 × 512: that alone travels to the processor, and the gain travels
back. Reducing and multiplying, which touch every pixel, are done where the frame lies.

Of the extra `torch`; it comes with the frames, and nothing here imports it before one is given.
"""

from typing import TYPE_CHECKING

import numpy as np

from engines.provenance.canvas import canvas_of, size_of
from engines.provenance.keys import MarkKey
from engines.provenance.watermark import DOSES, Dose, gain_of, pattern, strength

if TYPE_CHECKING:
    import torch


def embed(frame: "torch.Tensor", mark_id: str, key: MarkKey, psnr: float = 44.0, dose: Dose = DOSES[4]) -> "torch.Tensor":
    """Writes a mark into a copy, on the frame's device.

    Args:
        frame: (H, W, 3) uint8 RGB, on any device.
        mark_id, psnr, dose: as `watermark.embed` takes them.

    Returns:
        (H, W, 3) uint8 RGB on the same device; no value differs by more than 1 from what `watermark.embed` makes.

    Raises:
        ValueError: another shape or dtype; `mark_id` has another shape.
    """
    import torch

    if frame.ndim != 3 or frame.shape[2] != 3 or frame.dtype != torch.uint8:
        raise ValueError(f"a frame of {tuple(frame.shape)} {frame.dtype}, not of (H, W, 3) uint8")
    planes = frame.permute(2, 0, 1)[None].float()
    small = np.ascontiguousarray(_reduced(planes).byte()[0].permute(1, 2, 0).cpu().numpy())
    gain = torch.from_numpy(gain_of(small, pattern(mark_id, key, small) * strength(small, dose), psnr)).to(frame.device)
    height, width = frame.shape[:2]
    enlarged = height >= small.shape[0] and width >= small.shape[1]
    wide = _cubic(gain[None, None], height, width) if enlarged else _averaged(gain[None, None], height, width)
    return (planes * wide).round().clamp(0, 255).byte()[0].permute(1, 2, 0).contiguous()


def _reduced(planes: "torch.Tensor") -> "torch.Tensor":
    """(1, 3, H, W) in whole levels → (1, 3, h, w), by the steps of `canvas.reduce`."""
    from torch.nn import functional

    height, width = planes.shape[2:]
    long = canvas_of(height, width)
    across, down = size_of(np.empty((height, width), np.uint8), long)
    if max(height, width) < long:
        return _cubic(planes, down, across).round().clamp(0, 255)
    if max(height, width) < 2 * long or min(across, down) <= 16:
        return _averaged(planes, down, across).round()
    while max(planes.shape[2:]) >= 4 * long and min(planes.shape[2:]) >= 2:
        planes = functional.avg_pool2d(planes, 2).add(0.5).floor()
    twice = functional.interpolate(planes, size=(2 * down, 2 * across), mode="bilinear", align_corners=False).round()
    return functional.avg_pool2d(twice, 2).add(0.5).floor()


def _cubic(planes: "torch.Tensor", height: int, width: int) -> "torch.Tensor":
    from torch.nn import functional

    return functional.interpolate(planes, size=(height, width), mode="bicubic", align_corners=False)


def _averaged(planes: "torch.Tensor", height: int, width: int) -> "torch.Tensor":
    """The average over each target's exact area, as OpenCV's INTER_AREA: parts of pixels count as parts."""
    import torch

    down, across = (
        torch.from_numpy(_shares(source, target)).to(planes.device)
        for source, target in ((planes.shape[2], height), (planes.shape[3], width))
    )
    return torch.matmul(torch.matmul(down, planes), across.T)


def _shares(source: int, target: int) -> "np.ndarray[tuple[int, int], np.dtype[np.float32]]":
    """(target, source), how much of each pixel lies in each target; rows sum to 1."""
    edges = np.arange(target + 1) * (source / target)
    pixels = np.arange(source)
    inside = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    return np.asarray(np.clip(inside, 0, 1) * (target / source), np.float32)
