"""Models that cut the picture into one grid of patches: a formula a family, exact to the processor's own rounding.

Each takes width and height in pixels and the arguments of `assets/tokenizers/visual.toml`, and gives a `Layout`. Python's `round` goes
to the even neighbour at .5; the processors use the same one, so it stays.
"""

import math

from engines.tokens.layout import Layout, Sheet, SizeRefusedError


def fixed(width: int, height: int, *, side: int, patch: int, tokens: int = 0, crop: bool = False) -> Layout:
    """Every picture becomes one square: CLIP, SigLIP, LLaVA-1.5 (Radford 2021, Zhai 2023, Liu 2023), Gemma 3.

    Args:
        side: of the square. patch: of a patch.
        tokens: when the patches are pooled afterwards, into so many; 0 = one token a patch.
        crop: the middle square is cut out (CLIP); else the picture is squeezed into it.
    """
    cells = math.isqrt(tokens) if tokens else side // patch
    square = min(width, height)
    box = ((width - square) / 2, (height - square) / 2, square, square) if crop else (0.0, 0.0, width, height)
    return Layout(cells * cells, (side, side), (Sheet(cells, cells, box),))


def qwen(width: int, height: int, *, patch: int, merge: int, min_pixels: int, max_pixels: int) -> Layout:
    """Qwen2-VL and its successors: sides rounded to whole merged patches, within a range of pixels (Wang 2024, `smart_resize`).

    Args:
        patch: side of a patch. merge: patches a side that become one token.
        min_pixels, max_pixels: the resized picture has about as many.
    """
    if max(width, height) / min(width, height) > 200:
        raise SizeRefusedError("its sides differ more than 200 : 1")
    unit = patch * merge
    w, h = round(width / unit) * unit, round(height / unit) * unit
    if w * h > max_pixels:
        beta = math.sqrt(height * width / max_pixels)
        h, w = (max(unit, math.floor(side / beta / unit) * unit) for side in (height, width))
    elif w * h < min_pixels:
        beta = math.sqrt(min_pixels / (height * width))
        h, w = (math.ceil(side * beta / unit) * unit for side in (height, width))
    columns, rows = w // unit, h // unit
    return Layout(columns * rows, (w, h), (Sheet(columns, rows, (0.0, 0.0, width, height)),))


def pixtral(width: int, height: int, *, longest: int, patch: int) -> Layout:
    """Pixtral (Agrawal 2024): shrunk to the longest edge, never enlarged; one token at the end of each row.

    Args:
        longest: edge in pixels. patch: side of a patch.
    """
    ratio = max(height / longest, width / longest)
    h, w = (math.floor(side / ratio) if ratio > 1 else side for side in (height, width))
    if not h or not w:
        raise SizeRefusedError("its short side vanishes when the long one is shrunk")
    columns, rows = (w - 1) // patch + 1, (h - 1) // patch + 1
    return Layout((columns + 1) * rows, (columns * patch, rows * patch), (Sheet(columns, rows, (0.0, 0.0, width, height)),))


def gemma4(width: int, height: int, *, patch: int, pool: int, tokens: int) -> Layout:
    """Gemma 4: the largest size of about the same shape that fits a budget of tokens.

    Args:
        patch: side of a patch. pool: patches a side that become one token. tokens: the budget.
    """
    unit, budget = patch * pool, tokens * pool * pool * patch**2
    factor = math.sqrt(budget / (height * width))
    rows, columns = math.floor(factor * height / unit), math.floor(factor * width / unit)
    if not rows and not columns:
        raise SizeRefusedError("nothing is left of it at this budget")
    if not rows:
        rows, columns = 1, min(math.floor(width / height), tokens)
    elif not columns:
        rows, columns = min(math.floor(height / width), tokens), 1
    if rows * columns * unit * unit > budget:
        raise SizeRefusedError(f"it needs more than {tokens} tokens")
    return Layout(columns * rows, (columns * unit, rows * unit), (Sheet(columns, rows, (0.0, 0.0, width, height)),))


def openai_patch(width: int, height: int, *, patch: int, cap: int, per_mille: int) -> Layout:
    """OpenAI's patch count: 32-pixel patches, shrunk to a cap, times a factor of the model ("Images and vision", cost of patches).

    Args:
        patch: side of a patch. cap: patches at most. per_mille: the factor, in thousandths.
    """
    factor, scale = per_mille / 1000, 1.0
    columns, rows = math.ceil(width / patch), math.ceil(height / patch)
    if columns * rows > cap:
        scale = math.sqrt(patch * patch * cap / (width * height))
        across, down = width * scale / patch, height * scale / patch
        # A side that is under one patch can't be made a whole number of them by shrinking.
        scale *= min(math.floor(side) / side for side in (across, down) if side >= 1)
        columns, rows = (math.ceil(side * scale / patch - 1e-9) for side in (width, height))
    span = patch / scale
    sheet = Sheet(columns, rows, (0.0, 0.0, columns * span, rows * span), factor)
    seen = (round(width * scale), round(height * scale))
    # The factor is a whole number of thousandths: the division is the only rounding, and 1.62 × 50 stays 81.
    return Layout(-(-columns * rows * per_mille // 1000), seen, (sheet,))


def claude(width: int, height: int, *, patch: int, longest: int, cap: int) -> Layout:
    """Claude's patch count: ⌈w/28⌉ × ⌈h/28⌉ of the largest size of the same shape within both limits ("Vision", evaluate image size).

    Args:
        patch: side of a patch. longest: edge in pixels. cap: tokens at most.
    """

    def cells(scale: float) -> tuple[int, int, int, int]:
        w, h = max(1, round(width * scale)), max(1, round(height * scale))
        return w, h, -(-w // patch), -(-h // patch)

    def fits(scale: float) -> bool:
        w, h, columns, rows = cells(scale)
        return max(w, h) <= longest and columns * rows <= cap

    low, high = 0.0, 1.0
    if fits(1.0):
        low = 1.0
    else:
        for _ in range(40):  # 2^-40 of any picture's side is far below a pixel
            middle = (low + high) / 2
            low, high = (middle, high) if fits(middle) else (low, middle)
    w, h, columns, rows = cells(low)
    box = (0.0, 0.0, columns * patch * width / w, rows * patch * height / h)
    return Layout(columns * rows, (w, h), (Sheet(columns, rows, box),))


def flat(width: int, height: int, *, tokens: int) -> Layout:
    """A price list with one number for every picture.

    Args:
        tokens: that number.
    """
    return Layout(tokens, (width, height), (Sheet(1, 1, (0.0, 0.0, width, height), tokens),))
