"""ICC profiles of spaces whose numbers are published, and of a made-up press, for tests of colour."""

import struct

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
D50, D65 = np.array([0.9642, 1.0, 0.8249]), np.array([0.95047, 1.0, 1.08883])
BRADFORD = np.array([[0.8951, 0.2664, -0.1614], [-0.7502, 1.7135, 0.0367], [0.0389, -0.0685, 1.0296]])
# Primaries (x, y of red, green, blue), white, and the curve's exponent (0: sRGB's own).
SPACES: dict[str, tuple[tuple[tuple[float, float], ...], Floats, float]] = {
    "sRGB": (((0.64, 0.33), (0.30, 0.60), (0.15, 0.06)), D65, 0),
    "Display P3": (((0.680, 0.320), (0.265, 0.690), (0.150, 0.060)), D65, 0),  # SMPTE EG 432-1
    "Adobe RGB": (((0.64, 0.33), (0.21, 0.71), (0.15, 0.06)), D65, 563 / 256),  # Adobe RGB (1998)
    "ProPhoto": (((0.734699, 0.265301), (0.159597, 0.840403), (0.036598, 0.000105)), D50, 1.8),  # ISO 22028-2
}


def to_xyz(space: str) -> Floats:
    """(3, 3): linear RGB of the space → XYZ under D50."""
    primaries, white, _ = SPACES[space]
    columns = np.array([[x / y, 1, (1 - x - y) / y] for x, y in primaries]).T
    scaled = columns * np.linalg.solve(columns, white)
    adapt = np.linalg.inv(BRADFORD) @ np.diag(BRADFORD @ D50 / (BRADFORD @ white)) @ BRADFORD
    return np.asarray(adapt @ scaled)


def linear(values: Floats, exponent: float) -> Floats:
    if exponent:
        return np.asarray(values**exponent)
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def coded(values: Floats, exponent: float) -> Floats:
    values = np.clip(values, 0, 1)
    if exponent:
        return np.asarray(values ** (1 / exponent))
    return np.where(values <= 0.0031308, values * 12.92, 1.055 * np.maximum(values, 1e-9) ** (1 / 2.4) - 0.055)


def through(values: Floats, source: str, target: str) -> Floats:
    """Values 0..1 of one space as those of another, (…, 3)."""
    light = linear(values, SPACES[source][2]) @ to_xyz(source).T @ np.linalg.inv(to_xyz(target)).T
    return coded(light, SPACES[target][2])


def fixed(*numbers: float) -> bytes:
    return b"".join(struct.pack(">i", round(number * 65536)) for number in numbers)


def icc(kind: bytes, space: bytes, connection: bytes, tags: dict[bytes, bytes], name: str) -> bytes:
    """An ICC profile of version 2 (ICC.1:2001-04)."""
    text = name.encode() + b"\0"
    tags = {b"desc": b"desc\0\0\0\0" + struct.pack(">I", len(text)) + text + bytes(79), b"wtpt": b"XYZ \0\0\0\0" + fixed(*D50), **tags}
    table, body, at = struct.pack(">I", len(tags)), b"", 132 + 12 * len(tags)
    for tag, value in tags.items():
        table += tag + struct.pack(">II", at + len(body), len(value))
        body += value + bytes(-len(value) % 4)
    head = struct.pack(">I4xI4s4s4s12x4s28x", at + len(body), 0x02400000, kind, space, connection, b"acsp") + fixed(*D50)
    return head.ljust(128, b"\0") + table + body


def curve(exponent: float) -> bytes:
    table = (linear(np.linspace(0, 1, 1024), exponent) * 65535).round().astype(">u2")
    return b"curv\0\0\0\0" + struct.pack(">I", 1024) + table.tobytes()


def matrix_profile(space: str) -> bytes:
    matrix, tone = to_xyz(space), curve(SPACES[space][2])
    tags = {bytes([letter]) + b"XYZ": b"XYZ \0\0\0\0" + fixed(*matrix[:, n]) for n, letter in enumerate(b"rgb")}
    return icc(b"mntr", b"RGB ", b"XYZ ", tags | {bytes([letter]) + b"TRC": tone for letter in b"rgb"}, space)


def gray_profile(exponent: float) -> bytes:
    return icc(b"mntr", b"GRAY", b"XYZ ", {b"kTRC": curve(exponent)}, "gray")


INK, BLACK = 0.75, 0.95  # a made-up press, whose inks are much weaker than the plain formula assumes


def press_rgb(inks: Floats) -> Floats:
    return np.asarray((1 - INK * inks[..., :3]) * (1 - BLACK * inks[..., 3:]))


def press_inks(rgb: Floats) -> Floats:
    black = np.clip((1 - rgb.max(-1, keepdims=True)) / BLACK, 0, 0.9)
    return np.concatenate([np.clip((1 - rgb / (1 - BLACK * black)) / INK, 0, 1), black], -1)


def press_profile(steps: int = 9) -> bytes:
    grid = np.stack(np.meshgrid(*[np.linspace(0, 1, steps)] * 4, indexing="ij"), -1)
    ratio = linear(press_rgb(grid), 0) @ to_xyz("sRGB").T / D50
    f = np.where(ratio > 0.008856, np.cbrt(ratio), 7.787 * ratio + 16 / 116)
    lab = np.stack([116 * f[..., 1] - 16, 500 * (f[..., 0] - f[..., 1]), 200 * (f[..., 1] - f[..., 2])], -1)
    table = np.stack([lab[..., 0] * 652.8, (lab[..., 1] + 128) * 256, (lab[..., 2] + 128) * 256], -1).clip(0, 65535).round().astype(">u2")
    ramp = struct.pack(">2H", 0, 65535)
    lut = b"mft2\0\0\0\0" + bytes([4, 3, steps, 0]) + fixed(1, 0, 0, 0, 1, 0, 0, 0, 1) + struct.pack(">2H", 2, 2)
    return icc(b"prtr", b"CMYK", b"Lab ", {b"A2B0": lut + ramp * 4 + table.tobytes() + ramp * 3}, "press")
