"""Where something lies over a face, drawn by hand: so that no detector of the product's judges what the product's detector found.

Lines along the edges of rims, strands and fingers, in thousandths of the picture's width and height; good to about 3 of them.
"""

import cv2
import numpy as np
from numpy.typing import NDArray

Line = tuple[tuple[int, int], ...]

LINES: dict[str, tuple[Line, ...]] = {
    "glasses_01": (  # upper rims, lower rims, bridge
        ((345, 300), (380, 294), (420, 292), (460, 298), (482, 304)),
        ((355, 310), (370, 335), (385, 360), (405, 377), (435, 383), (465, 378), (483, 365), (495, 340), (500, 320)),
        ((480, 304), (510, 306), (545, 304), (570, 293), (600, 284), (630, 282), (660, 284), (690, 290)),
        ((500, 322), (515, 318), (535, 322), (550, 355), (565, 370), (590, 378), (620, 375), (645, 360), (660, 330), (660, 312)),
    ),
    "glasses_02": (
        ((240, 462), (270, 455), (300, 445), (330, 437), (370, 433), (410, 434), (445, 439), (470, 438), (495, 430), (530, 410)),
        ((530, 410), (570, 398), (610, 393), (650, 392), (690, 390)),
        ((268, 465), (275, 490), (285, 530), (300, 568), (315, 575), (350, 573), (390, 567), (420, 558), (435, 545), (445, 520)),
        ((445, 520), (453, 480), (458, 457), (470, 447), (485, 450), (497, 463), (510, 490), (525, 515), (540, 533), (555, 538)),
        ((555, 538), (590, 537), (630, 527), (660, 517), (672, 505), (676, 470), (676, 420), (672, 400)),
    ),
    "fringe_01": (  # two single strands, then the large one's edge and what hangs out of it
        ((340, 495), (370, 460), (395, 420), (415, 375)),
        ((425, 265), (435, 300), (455, 350), (465, 390), (475, 420), (487, 450)),
        ((645, 400), (620, 450), (600, 500), (565, 550), (540, 590), (505, 630), (470, 660)),
        ((600, 450), (560, 500), (530, 540), (500, 580), (480, 620)),
        ((620, 440), (590, 480), (550, 530), (520, 570)),
    ),
    "hand_01": (
        ((315, 700), (320, 690), (335, 680), (350, 683), (365, 695), (385, 720), (410, 745), (440, 780), (460, 800)),
        ((315, 700), (325, 720), (345, 740), (360, 770), (370, 800)),
        ((565, 800), (570, 765), (580, 747), (590, 748), (595, 760), (590, 790)),
    ),
    "sidelight_01": (
        ((470, 270), (500, 310), (530, 360), (550, 390)),
        ((500, 265), (530, 310), (560, 350), (580, 390)),
        ((455, 270), (462, 330), (472, 370)),
        ((620, 450), (630, 500), (620, 550), (600, 600), (590, 660)),
        ((605, 500), (610, 550), (600, 600)),
    ),
}


def drawn(stem: str, height: int, width: int, thickness: float) -> NDArray[np.bool_] | None:
    """(height, width) of a whole picture, true along its lines, `thickness` px wide; None where nothing is drawn."""
    if stem not in LINES:
        return None
    out = np.zeros((height, width), np.uint8)
    for line in LINES[stem]:
        points = np.array(line, np.float64) / 1000 * [width, height]
        cv2.polylines(out, [np.round(points).astype(np.int32)], False, 1, max(1, round(thickness)))
    return out.astype(np.bool_)
