"""The values that travel down the one path, in the order in which they appear.

    bytes → Frame → Detection → Face (with its FaceMesh and Verdict) → AlignedFace → Identity
          → Patch (what one fusion wants to change) → Frame → MarkedImage → file

Conventions, everywhere: pixels are RGB uint8 `(H, W, 3)`; a point is `(x, y)` in pixels, the centre of the top-left pixel
being `(0, 0)`; matrices are `(2, 3)` float64 and map *picture → crop*; an angle is in degrees; all types are frozen.
Arrays inside them are not copied: treat them as read-only.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

Pixels = NDArray[np.uint8]
Floats = NDArray[np.float32]
Matrix = NDArray[np.float64]

Note = tuple[str, tuple[tuple[str, object], ...]]  # a key under `notes.` of the locale files, and its facts

FivePoints = tuple[tuple[float, float], ...]
Role = Literal["source", "target"]


@dataclass(frozen=True, slots=True)
class Origin:
    """What the encoded picture was, before it became a `Frame`.

    `notes` are keys under `notes.` of the locale files, with their facts, for things that the person should know
    ("first of 4 frames", "no colour profile").
    `source_type`: IPTC's term, where the file's labels say that an algorithm made or changed the picture; "" else.
    `dpi`: pixels per inch across and down of the upright picture, as the file has it for a print; None where it tells none.
    """

    format: str  # "JPEG", "PNG", …; "ARRAY" for pixels that came from Python
    mode: str  # Pillow's name of the stored layout: "RGB", "CMYK", "I;16", …
    bit_depth: int  # of the stored samples
    orientation: int  # EXIF 1..8 as stored; the pixels are already upright
    frames: int  # of the file; only the first is used
    profile: str | None  # name of the embedded colour profile, None without one
    notes: tuple[Note, ...] = ()
    source_type: str = ""
    dpi: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Frame:
    """An upright sRGB picture.

    Attributes:
        pixels: (H, W, 3) uint8 RGB, C-contiguous.
        alpha: (H, W) uint8, 255 = opaque; None when the picture has no transparency.
        digest: SHA-256 (hex) of the encoded bytes, or of the pixels where there were none. The caches' key.
    """

    pixels: Pixels
    origin: Origin
    digest: str
    alpha: Pixels | None = None

    @property
    def width(self) -> int:
        return int(self.pixels.shape[1])

    @property
    def height(self) -> int:
        return int(self.pixels.shape[0])


@dataclass(frozen=True, slots=True)
class Box:
    """Axis-aligned rectangle in pixels: left, top, width, height. May reach beyond the picture."""

    x: float
    y: float
    width: float
    height: float

    @property
    def centre(self) -> tuple[float, float]:
        return self.x + self.width / 2, self.y + self.height / 2

    def as_ints(self) -> list[int]:
        """`[x, y, w, h]`, rounded, as the JSON answers give it."""
        return [round(self.x), round(self.y), round(self.width), round(self.height)]


@dataclass(frozen=True, slots=True)
class Detection:
    """A detector's claim that a face is here.

    Attributes:
        score: 0..1, the detector's own.
        points: (5, 2) float32: image-left eye, image-right eye, nose tip, image-left and image-right mouth corner
            (left and right of the *face's* own upright view when it is rolled).
    """

    box: Box
    score: float
    points: Floats


@dataclass(frozen=True, slots=True)
class Pose:
    """Head angles in degrees. yaw > 0: turned to the picture's right; pitch > 0: looking down; roll > 0: clockwise."""

    yaw: float
    pitch: float
    roll: float


@dataclass(frozen=True, slots=True)
class FaceMesh:
    """MediaPipe's 478-point face mesh (468 surface points + 2 × 5 iris points), topology of `engines/faces/topology.py`.

    Attributes:
        points: (478, 3) float32; x, y in picture pixels, z in the same unit, smaller is nearer.
        pose: angles, corrected for the mesh's under-reading.
    """

    points: Floats
    pose: Pose

    @property
    def size(self) -> float:
        """√(width · height) of the surface points in pixels: the face's size in every limit of this project."""
        extent = np.ptp(self.points[:468, :2], axis=0)
        return float(np.sqrt(extent[0] * extent[1]))


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether a face may be fused. `reason` is "" when it may, else a key under `verdicts.` of the locale files.

    Reasons: too_small, turned, tilted (pitch), unsteady (mesh doesn't settle), hidden.
    """

    reason: str = ""
    facts: tuple[tuple[str, object], ...] = ()

    @property
    def usable(self) -> bool:
        return not self.reason


@dataclass(frozen=True, slots=True)
class Face:
    """A face that was found and looked at twice.

    Attributes:
        index: 0-based, from left to right by the centre of the box (then from top to bottom). The same number everywhere.
        sharpness: standard deviation of the Laplacian of the aligned 112 crop's luma; under 4 is soft, over 20 crisp.
    """

    index: int
    detection: Detection
    mesh: FaceMesh
    sharpness: float
    verdict: Verdict

    @property
    def box(self) -> Box:
        return self.detection.box


@dataclass(frozen=True, slots=True)
class RefusedFace:
    """A place that the detector took for a face, and that mesh and closer look didn't.

    Attributes:
        score: 0..1, the detector's. look: 0..1, its score at the closer look, where .75 is needed (.6 at the picture's edge).
        reason: a key under `refusals.` of the locale files: unseen, apart, unsettled, wobbling, or small, which may be a face after all.
    """

    box: Box
    score: float
    look: float
    reason: str
    facts: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True, slots=True)
class AlignedFace:
    """A face cut out upright at a standard size.

    Attributes:
        pixels: (size, size, 3) uint8 RGB.
        matrix: (2, 3) picture → crop, a similarity. inverse: crop → picture.
        template: which five-point template: "arcface".
    """

    pixels: Pixels
    matrix: Matrix
    inverse: Matrix
    size: int
    template: str


@dataclass(frozen=True, slots=True)
class Identity:
    """Who a face is, to a network.

    Attributes:
        embedding: (128,) float32 as dlib's network gives it, or (512,) of ArcFace's kind; one person lies under 0.5 Euclidean.
        model: the entry of models.toml that made it; two identities compare only within one model.
    """

    embedding: Floats
    model: str


@dataclass(frozen=True, slots=True)
class FusedCrop:
    """A fused face in its own square, before it is laid into the picture.

    Attributes:
        pixels: (S, S, 3) uint8 RGB.
        mask: (S, S) uint8, how much of `pixels` goes in: 0 = the picture stays, 255 = all of it.
        matrix: (2, 3) picture → crop, a similarity.
    """

    pixels: Pixels
    mask: Pixels
    matrix: Matrix


@dataclass(frozen=True, slots=True)
class Patch:
    """What one fusion changes: a rectangle of the picture, and how much of it.

    Attributes:
        left, top: where the rectangle lies in the picture; it never reaches beyond it.
        pixels: (h, w, 3) uint8 RGB, the rectangle after fusion, blended already; equal to the picture wherever `mask` is 0.
        mask: (h, w) uint8; 0 = not touched by a single value.
    """

    left: int
    top: int
    pixels: Pixels
    mask: Pixels


@dataclass(frozen=True, slots=True)
class Occlusion:
    """What lies over a face's skin, in a crop of side S: glasses, hair, a hand, a hat's brim.

    Attributes:
        alpha: (S, S) float32 0..1, how much of the pixel is the thing before the face; 0 = plain face.
        clean: (S, S, 3) uint8 RGB, the crop with the things filled in by skin; equal to the crop wherever `alpha` is 0 and for some
            pixels round it (a frame's halo, a reflection).
        solid: (S, S) float32 0..1, the part of `alpha` under which nothing at all is known of the face (a hat, a hand, a mask).
        found: what was found, by name, with its measure: glasses (score), strands and hands (how many), lumps (share of the face).
    """

    alpha: Floats
    clean: Pixels
    solid: Floats
    found: tuple[tuple[str, float], ...] = ()


@dataclass(frozen=True, slots=True)
class SafetyScore:
    """The safety classifier's word on a picture: 0 = harmless … 1 = explicit."""

    score: float
    model: str = field(default="open_nsfw")
