"""Fusion Studio's pipeline, without a screen.

>>> from engines import Studio
>>> with Studio.open() as studio:
...     result = studio.fuse(SOURCE, TARGET)
...     saved = result.save(OUTPUT)
>>> saved.mark.kind
'watermark'
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from engines.options import FuseOptions as FuseOptions
    from engines.pipeline import Studio as Studio
    from engines.settings import Settings as Settings

__version__ = "0.1.0"
_HOMES = {"Studio": "engines.pipeline", "Settings": "engines.settings", "FuseOptions": "engines.options"}


def __getattr__(name: str) -> Any:
    """Names are loaded when they are first used: `import engines` alone costs next to nothing."""
    if name not in _HOMES:
        raise AttributeError(f"module 'engines' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
