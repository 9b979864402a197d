"""Colour difference as people see it."""

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]


def ciede2000(a: NDArray[np.floating], b: NDArray[np.floating]) -> Doubles:
    """ΔE2000 between Lab colours (…, 3), L 0..100: 1 is just seen side by side, 5 at a glance.

    CIE 142-2001, after G. Sharma, W. Wu, E. Dalal, "The CIEDE2000 Color-Difference Formula" (Color Research & Application 30, 2005),
    with kL = kC = kH = 1.
    """
    first, second = np.moveaxis(np.asarray(a, np.float64), -1, 0), np.moveaxis(np.asarray(b, np.float64), -1, 0)
    chroma = (np.hypot(first[1], first[2]) + np.hypot(second[1], second[2])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    c1, c2 = np.hypot(first[1] * stretch, first[2]), np.hypot(second[1] * stretch, second[2])
    h1 = np.degrees(np.arctan2(first[2], first[1] * stretch)) % 360
    h2 = np.degrees(np.arctan2(second[2], second[1] * stretch)) % 360
    grey = c1 * c2 == 0
    turn = np.where(grey, 0.0, (h2 - h1 + 180) % 360 - 180)
    lightness, strength = second[0] - first[0], c2 - c1
    hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2)
    mean_l, mean_c = (first[0] + second[0]) / 2, (c1 + c2) / 2
    mean_h = np.where(grey, h1 + h2, np.where(np.abs(h1 - h2) <= 180, (h1 + h2) / 2, (h1 + h2 + 360) / 2 % 360))

    def cosine(factor: float, shift: float) -> Doubles:
        return np.cos(np.radians(factor * mean_h + shift))

    weight = 1 - 0.17 * cosine(1, -30) + 0.24 * cosine(2, 0) + 0.32 * cosine(3, 6) - 0.20 * cosine(4, -63)
    away = (mean_l - 50) ** 2
    sl, sc, sh = 1 + 0.015 * away / np.sqrt(20 + away), 1 + 0.045 * mean_c, 1 + 0.015 * mean_c * weight
    rotation = -np.sin(np.radians(60 * np.exp(-(((mean_h - 275) / 25) ** 2)))) * 2 * np.sqrt(mean_c**7 / (mean_c**7 + 25.0**7))
    parts = lightness / sl, strength / sc, hue / sh
    return np.sqrt(np.maximum(parts[0] ** 2 + parts[1] ** 2 + parts[2] ** 2 + rotation * parts[1] * parts[2], 0))
