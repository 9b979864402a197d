"""Models that cut the picture into tiles of one size, each encoded by itself, mostly with a thumbnail of the whole beside them.

Arguments and results as in `engines/tokens/patches.py`.
"""

import math
from collections.abc import Iterator
from functools import cache

from engines.tokens.layout import Layout, Sheet, SizeRefusedError

Grid = tuple[int, int]  # columns, rows


def llava_next(width: int, height: int, *, side: int, patch: int, grids: tuple[Grid, ...]) -> Layout:
    """LLaVA-NeXT (Liu 2024): the grid that keeps most of the picture; its padding is cut off again, each row ends with a token.

    Args:
        side: of a tile. patch: of a patch. grids: width and height in pixels of each grid allowed, in the processor's order.
    """
    best, kept, wasted = grids[0], 0, math.inf
    for w, h in grids:
        scale = min(w / width, h / height)
        fits = min(int(width * scale) * int(height * scale), width * height)
        if fits > kept or (fits == kept and w * h - fits < wasted):
            best, kept, wasted = (w, h), fits, w * h - fits
    cells, tiles = side // patch, (best[0] // side, best[1] // side)
    columns, rows = cells * tiles[0], cells * tiles[1]
    # Rounded at the seventh digit, as the model does (`unpad_image`), so that 47.99999999 counts as 48.
    if width / height > columns / rows:
        rows -= (rows - int(round(height * (columns / width), 7))) // 2 * 2
    else:
        columns -= (columns - int(round(width * (rows / height), 7))) // 2 * 2
    whole = (0.0, 0.0, float(width), float(height))
    sheets = (Sheet(columns, rows, whole, tiles=tiles), Sheet(cells, cells, whole))
    return Layout(columns * rows + rows + cells * cells, best, sheets)


def internvl(width: int, height: int, *, side: int, tokens: int, max_tiles: int, min_tiles: int = 1) -> Layout:
    """InternVL (Chen 2024): the grid of the nearest shape, and a thumbnail where there is more than one tile.

    Args:
        side: of a tile. tokens: of a tile. min_tiles, max_tiles: without the thumbnail.
    """
    shape, area, best, nearest = width / height, width * height, (1, 1), math.inf
    for grid in _by_area(min_tiles, max_tiles):
        off = abs(shape - grid[0] / grid[1])
        # Of equal shapes the finer, unless it would more than double the picture.
        if off < nearest or (off == nearest and area > 0.5 * side * side * grid[0] * grid[1]):
            best, nearest = grid, min(off, nearest)
    return _tiled(width, height, best, side, tokens)


def idefics3(width: int, height: int, *, longest: int, side: int, tokens: int, limit: int = 4096) -> Layout:
    """Idefics3 and SmolVLM (Laurençon 2024, Marafioti 2025): the longest edge brought to one length, small pictures enlarged to it.

    Args:
        longest: edge in pixels. side: of a tile. tokens: of a tile. limit: on the longest edge, whatever is asked for.
    """
    w, h = _even(width, height, longest)
    if max(w, h) > limit:
        shape = w / h
        w, h = (limit, max(int(limit / shape), 1)) if w >= h else (max(int(limit * shape), 1), limit)
    shape = w / h
    if w >= h:
        w = math.ceil(w / side) * side
        h = math.ceil(int(w / shape) / side) * side
    else:
        h = math.ceil(h / side) * side
        w = math.ceil(int(h * shape) / side) * side
    return _tiled(width, height, (max(w // side, 1), max(h // side, 1)), side, tokens)


def mllama(width: int, height: int, *, side: int, patch: int, max_tiles: int) -> Layout:
    """Llama 3.2 Vision (Grattafiori 2024): states that the text attends to; 1 601 a tile, padding included, no thumbnail.

    Args:
        side: of a tile. patch: of a patch. max_tiles: in all.
    """
    scales = {(w, h): min(w * side / width, h * side / height) for w in range(1, max_tiles + 1) for h in range(1, max_tiles // w + 1)}
    enlarging = [scale for scale in scales.values() if scale >= 1]
    wanted = min(enlarging) if enlarging else max(scales.values())
    columns, rows = min((grid for grid, scale in scales.items() if scale == wanted), key=lambda grid: grid[0] * grid[1])
    # Never enlarged beyond one tile: a small picture on a large canvas keeps its size.
    fit = min(min(max(width, side), columns * side) / width, min(max(height, side), rows * side) / height)
    cells = side // patch
    box = (0.0, 0.0, columns * side / fit, rows * side / fit)
    sheet = Sheet(columns * cells, rows * cells, box, tiles=(columns, rows))
    return Layout(columns * rows * (cells * cells + 1), (columns * side, rows * side), (sheet,))


def phi3(width: int, height: int, *, side: int, cells: int, max_tiles: int) -> Layout:
    """Phi-3.5-Vision (Abdin 2024, `HD_transform`): the largest grid within the limit, small pictures enlarged to it.

    Args:
        side: of a tile. cells: a side of a tile, after pooling. max_tiles: without the thumbnail.
    """
    short, long = sorted((width, height))
    shape, count = long / short, 1
    while count * math.ceil(count / shape) <= max_tiles:
        count += 1
    count -= 1
    exact = int(count * side / shape)
    if not exact:
        raise SizeRefusedError("its short side vanishes when the long one is brought to the grid")
    other = math.ceil(exact / side)
    columns, rows = (count, other) if width >= height else (other, count)
    scale, pad = count * side / long, (other * side - exact) // 2
    offset = (0.0, -pad / scale) if width >= height else (-pad / scale, 0.0)
    box = (*offset, columns * side / scale, rows * side / scale)
    whole = Sheet(columns * cells, rows * cells, box, tiles=(columns, rows))
    thumbnail = Sheet(cells, cells, box)
    # One separator between the two, and one at the end of each row of either.
    tokens = (columns * rows + 1) * cells * cells + 1 + (rows + 1) * cells
    return Layout(tokens, (columns * side, rows * side), (whole, thumbnail))


def openai_tile(width: int, height: int, *, side: int, base: int, tile: int, longest: int, shortest: int) -> Layout:
    """OpenAI's tile count at high detail: fitted into 2048, the short side down to 768, 512-pixel tiles ("Images and vision").

    Args:
        side: of a tile. base, tile: tokens of the picture and of each tile. longest, shortest: edges in pixels; nothing is enlarged.
    """
    w, h = float(width), float(height)
    for edge, limit in ((max(w, h), longest), (min(w, h) * min(1.0, longest / max(w, h)), shortest)):
        if edge > limit:
            w, h = w * limit / edge, h * limit / edge
    seen = (max(round(w), 1), max(round(h), 1))
    columns, rows = -(-seen[0] // side), -(-seen[1] // side)
    box = (0.0, 0.0, columns * side * width / seen[0], rows * side * height / seen[1])
    return Layout(base + tile * columns * rows, seen, (Sheet(columns, rows, box, tile, (columns, rows)),))


def gemini_tile(width: int, height: int, *, small: int, least: int, most: int, tile: int) -> Layout:
    """Gemini 2: one tile for a small picture, else tiles of ⌊short side / 1.5⌋ pixels within a range ("Image understanding", tokens).

    Args:
        small: edge in pixels up to which a picture is one tile. least, most: side of a tile. tile: tokens of one.
    """
    if max(width, height) <= small:
        return Layout(tile, (width, height), (Sheet(1, 1, (0.0, 0.0, width, height), tile),))
    unit = max(least, min(most, math.floor(min(width, height) / 1.5)))
    columns, rows = -(-width // unit), -(-height // unit)
    sheet = Sheet(columns, rows, (0.0, 0.0, columns * unit, rows * unit), tile, (columns, rows))
    return Layout(tile * columns * rows, (width, height), (sheet,))


@cache
def _by_area(least: int, most: int) -> tuple[Grid, ...]:
    def grids() -> Iterator[Grid]:
        for columns in range(1, most + 1):
            yield from ((columns, rows) for rows in range(1, most + 1) if least <= columns * rows <= most)

    return tuple(sorted(grids(), key=lambda grid: grid[0] * grid[1]))  # stable: of one area the narrow first, which decides ties


def _tiled(width: int, height: int, grid: Grid, side: int, tokens: int) -> Layout:
    """Tiles over the whole picture, squeezed into them, and a thumbnail where there is more than one. `tokens` of a tile are a square."""
    cells, whole = math.isqrt(tokens), (0.0, 0.0, float(width), float(height))
    sheets = [Sheet(grid[0] * cells, grid[1] * cells, whole, tiles=grid)]
    if grid != (1, 1):
        sheets.append(Sheet(cells, cells, whole))
    count = grid[0] * grid[1] + len(sheets) - 1
    return Layout(count * tokens, (grid[0] * side, grid[1] * side), tuple(sheets))


def _even(width: int, height: int, longest: int) -> tuple[int, int]:
    """The longest edge at its length, the other cut to a whole number and then made even."""
    shape = width / height
    if width >= height:
        other = int(longest / shape)
        return longest, max(other + other % 2, 1)
    other = int(longest * shape)
    return max(other + other % 2, 1), longest
