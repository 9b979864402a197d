"""`PerVisitor`: something of each visitor's own in memory, a cache or a store, so that nobody learns what another gave."""

from collections import OrderedDict
from collections.abc import Callable
from typing import Generic, TypeVar

from gradio import Request

from studio.context import visitor_of

T = TypeVar("T")
MOST = 8  # at once; who was here longest ago begins anew


class PerVisitor(Generic[T]):
    """Used by one thread at a time: the desk's."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, T] = OrderedDict()

    def of(self, visitor: str, make: Callable[[], T]) -> T:
        """The visitor's, made where there is none."""
        if visitor not in self._of:
            self._of[visitor] = make()
        self._of.move_to_end(visitor)
        while len(self._of) > MOST:
            self._of.popitem(last=False)
        return self._of[visitor]

    def forget(self, visitor: str) -> None:
        self._of.pop(visitor, None)


def whose(request: Request) -> str:
    """The visitor, or for a client without cookies its session."""
    return visitor_of(request.cookies) or str(request.session_hash)
