"""Aligned crops as files, each marked like any other output."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from engines.results import FoundFaces

if TYPE_CHECKING:
    from engines.pipeline import Studio


def save_crops(studio: "Studio", found: FoundFaces, folder: Path, size: int, stem: str, overwrite: bool) -> dict[int, dict[str, Any]]:
    """Writes `<stem>-face<N>-<size>.png` for every face.

    Returns:
        By face number: path, size, the 2×3 matrix picture → crop and its inverse.

    Raises:
        InvalidOption: a size that isn't a standard one. OutputExists, OutputUnwritable, MarkNotRead.
    """
    from engines.provenance.save import check_writable, save

    cut = {face.index: studio.crop(found.frame, face, size) for face in found.faces}
    paths = {index: folder / f"{stem}-face{index}-{size}.png" for index in cut}
    for path in paths.values():
        check_writable(path, "png", overwrite)
    answer: dict[int, dict[str, Any]] = {}
    for index, aligned in cut.items():
        saved = save(
            studio.mark(aligned.pixels, "crop", of=found.frame),
            paths[index],
            "png",
            overwrite=overwrite,
            key=studio.key,
            ledger=studio.ledger,
            signer=studio.signer,
        )
        answer[index] = {"path": str(saved.path), "size": size, "matrix": aligned.matrix.tolist(), "inverse": aligned.inverse.tolist()}
    return answer
