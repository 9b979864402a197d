"""A prompt while it is being shortened: each character knows where in the source it comes from, and each change can be taken back."""

from collections.abc import Sequence
from dataclasses import dataclass

from engines.prompts.protect import mask

Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that was done to the source.

    Attributes:
        start, end: where in the source, code points. They also name the change when it is to be taken back.
        text: what stood there. instead: what stands there now; "" where nothing does, `text` itself where it only moved.
        reason: names the sentence `prompts.reasons.<reason>`.
        twin: for doubles, what says the same.
    """

    start: int
    end: int
    text: str
    instead: str
    reason: str
    twin: str = ""


def said_any(text: str) -> bool:
    """Whether there is anything but space in a text."""
    return bool(text.strip())


class Draft:
    """The text as it is now.

    Args:
        source: the prompt.
        kept: spans of the source that a person wants as they were: no change may touch them.
        skip: reasons for which nothing is done.
    """

    def __init__(self, source: str, kept: Sequence[Span] = (), skip: frozenset[str] = frozenset()) -> None:
        self.source, self.text = source, source
        self.changes: list[Change] = []
        self.negative: list[tuple[Span, str]] = []
        self._origin = list(range(len(source)))
        self._kept, self._skip = tuple(kept), skip

    def copy(self) -> "Draft":
        """Another one that can be changed without this one."""
        other = Draft(self.source, self._kept, self._skip)
        other.text, other._origin = self.text, list(self._origin)
        other.changes, other.negative = list(self.changes), list(self.negative)
        return other

    def masked(self) -> str | None:
        """`protect.mask` of the text."""
        return mask(self.text)

    def cut(self, start: int, end: int, reason: str, instead: str = "", twin: str = "") -> bool:
        """Puts `instead` in the place of a span. False where a person, or `skip`, forbids it."""
        begun, over = self.span(start, end)
        if start == end or reason in self._skip or not self.free(begun, over):
            return False
        if not said_any(self.text[start:end]) and reason != "punctuation":
            return False
        # Changes within the span are a part of this one: a person is shown what stood in the source, and takes that back.
        inner = [change for change in self.changes if begun < change.end and change.start < over]
        begun, over = min([begun, *(change.start for change in inner)]), max([over, *(change.end for change in inner)])
        said, loose = self.source[begun:over], " ,，" if reason != "punctuation" else " "
        lead = len(said) - len(said.lstrip(loose))
        if said.strip(loose):
            shown = inner[0].reason if reason == "punctuation" and inner else reason
            change = Change(begun + lead, begun + len(said.rstrip(loose)), said.strip(loose), instead.strip(" ,"), shown, twin)
            self.changes = sorted([*(change for change in self.changes if change not in inner), change], key=lambda one: one.start)
        self.text = self.text[:start] + instead + self.text[end:]
        self._origin[start:end] = [begun] * len(instead)
        return True

    def reorder(self, pieces: Sequence[Span | str], moved: Sequence[Span], reason: str = "moved") -> bool:
        """Makes the text anew of spans of it and of words between them.

        Args:
            moved: those of the spans that a person should see as moved.
        """
        sources = [self.span(*span) for span in moved]
        if reason in self._skip or not all(self.free(*span) for span in sources):
            return False
        text, origin = "", list[int]()
        for piece in pieces:
            if isinstance(piece, str):
                origin += [origin[-1] if origin else 0] * len(piece)
                text += piece
            else:
                origin += self._origin[slice(*piece)]
                text += self.text[slice(*piece)]
        for start, end in sources:
            if not any(change.start < end and start < change.end for change in self.changes):
                self.changes.append(Change(start, end, self.source[start:end], self.source[start:end], reason))
        self.changes.sort(key=lambda change: change.start)
        self.text, self._origin = text, origin
        return True

    def note(self, begun: int, over: int, reason: str) -> None:
        """Says that a span of the source is gone, where the text is made anew without it."""
        if not any(change.start < over and begun < change.end for change in self.changes):
            self.changes.append(Change(begun, over, self.source[begun:over], "", reason))

    def span(self, start: int, end: int) -> Span:
        """Where in the source a span of the text comes from."""
        places = self._origin[start:end]
        return (min(places), max(places) + 1) if places else (0, 0)

    def free(self, start: int, end: int) -> bool:
        """Whether a span of the source may be touched."""
        return all(end <= first or last <= start for first, last in self._kept)
