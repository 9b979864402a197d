"""What reading may cost: how well a message has to agree before it counts, so that chance passes for a mark in less than 1 of 10⁹ pictures.

A key's patterns are orthogonal noise. What an unmarked picture, or another key's mark, says in them is a vector of 126 numbers that points
anywhere on the sphere, all directions alike. There are 2^36 words whose tag is right, one an id. The chance that any of them lies within
an angle of a direction is at most 2^36 times the share of the sphere in that angle, however many words were looked at to find it.

The pilot is orthogonal to the patterns: how loud it is heard is evidence of its own. That it stands out by s standard deviations has by
chance at most 131072 exp(-s²/2) at one of the 8 × 16384 places of a look (its phases are random: Chernoff). Where it does, and the place
wasn't moved to suit the pilot, an agreement suffices that is less by itself:

    64 messages of a picture at 0.7289:                64 × 9.4e-12                     =  6e-10
    1024 looks whose pilot reaches 6.5, at 0.7029:     1024 × 131072 × 6.7e-10 × 1.1e-9 =  1e-10
    1024 looks whose pilot reaches 7.0, at 0.6828:     1024 × 131072 × 2.3e-11 × 3.3e-8 =  1e-10

8e-10 in all. It isn't less than 0.6828 however loud the pilot is: in a picture that carries this key's mark and has lost its message,
another id must not be found either (3.3e-8 a message).
"""

from dataclasses import dataclass

LEAST = 0.7289  # cosine between what was heard and a word
LOUD = ((7.0, 0.6828), (6.5, 0.7029))  # pilot's score, and what suffices then


@dataclass(slots=True)
class Allowance:
    """What is left for one picture, or one video however often it is asked, over all keys.

    Attributes:
        messages: that may still be tried. looks: whose pilot counts as evidence; one a key and canvas.
    """

    messages: int = 64
    looks: int = 1024

    def least(self, score: float, fitted: bool) -> float:
        """Takes one look, and says how well its message has to agree. `fitted`: the place was moved until the pilot was heard best, and its
        score proves nothing (7.05 in 1 of 250 unmarked crops)."""
        if fitted:
            return LEAST
        self.looks -= 1
        if self.looks < 0:
            return LEAST
        return next((least for loud, least in LOUD if score >= loud), LEAST)
