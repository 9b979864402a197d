"""A binary BCH code: 56 data bits in, 126 code bits out, up to 11 wrong bits corrected.

BCH(127, 57, t = 11) over GF(2^7) with the primitive polynomial x^7 + x^3 + 1 (Lin & Costello, Error Control Coding, 2nd ed.,
appendix C), shortened by one bit. Words are Python integers; bit 125 is the first one sent, data before parity.
"""

import numpy as np

M, CORRECTABLE, LENGTH = 7, 11, 127
DATA_BITS, CODE_BITS = 56, 126
PARITY_BITS = CODE_BITS - DATA_BITS
_PRIMITIVE = 0b10001001


def _field() -> tuple[list[int], list[int]]:
    """Powers of the primitive element, twice around so that sums of logarithms need no modulo, and their logarithms."""
    powers, logs = [0] * (2 * LENGTH), [0] * (LENGTH + 1)
    value = 1
    for exponent in range(LENGTH):
        powers[exponent] = powers[exponent + LENGTH] = value
        logs[value] = exponent
        value <<= 1
        if value >> M:
            value ^= _PRIMITIVE
    return powers, logs


_POWER, _LOG = _field()
_POWERS = np.array(_POWER)


def _generator() -> int:
    """Product of the minimal polynomials of the odd powers 1 … 21 of the primitive element."""
    generator, seen = 1, set()
    for odd in range(1, 2 * CORRECTABLE, 2):
        conjugates = frozenset(odd * 2**step % LENGTH for step in range(M))
        if conjugates in seen:
            continue
        seen.add(conjugates)
        minimal = [1]
        for root in conjugates:
            longer = [0, *minimal]
            for degree, value in enumerate(minimal):
                longer[degree] ^= _POWER[_LOG[value] + root] if value else 0
            minimal = longer
        product = 0
        for degree, value in enumerate(minimal):
            product ^= generator << degree if value else 0
        generator = product
    return generator


_GENERATOR = _generator()


def encode(data: int) -> int:
    """The code word of a 56-bit number. Raises `ValueError` outside 0 … 2^56 - 1."""
    if not 0 <= data < 1 << DATA_BITS:
        raise ValueError("more than 56 bits")
    word = data << PARITY_BITS
    rest = word
    for bit in range(CODE_BITS - 1, PARITY_BITS - 1, -1):
        if rest >> bit & 1:
            rest ^= _GENERATOR << (bit - PARITY_BITS)
    return word | rest


def decode(word: int) -> tuple[int, int] | None:
    """The 56-bit number of a received word and how many bits were wrong; None where more than 11 were, as far as it shows.

    A word with more errors can lie within 11 bits of another code word: random words decode with a chance of 4e-7.
    """
    syndromes = _syndromes(word)
    if not any(syndromes):
        return word >> PARITY_BITS, 0
    locator = _locator(syndromes)
    if len(locator) - 1 > CORRECTABLE:
        return None
    wrong = _roots(locator)
    if len(wrong) != len(locator) - 1 or any(position >= CODE_BITS for position in wrong):
        return None
    for position in wrong:
        word ^= 1 << position
    return word >> PARITY_BITS, len(wrong)


def _syndromes(word: int) -> list[int]:
    """Values of the received polynomial at powers 1 … 22; an even one is the square of the one at half its index."""
    ones = [position for position in range(CODE_BITS) if word >> position & 1]
    values = [0] * (2 * CORRECTABLE + 1)
    for index in range(1, 2 * CORRECTABLE + 1):
        if index % 2:
            for position in ones:
                values[index] ^= _POWER[index * position % LENGTH]
        elif values[index // 2]:
            values[index] = _POWER[2 * _LOG[values[index // 2]] % LENGTH]
    return values[1:]


def _locator(syndromes: list[int]) -> list[int]:
    """Berlekamp-Massey: the shortest polynomial whose roots tell where the errors are, lowest degree first, without zeros at the end."""
    current, previous = [1], [1]
    length, shift, last = 0, 1, 1
    for step, syndrome in enumerate(syndromes):
        gap = syndrome
        for degree in range(1, min(length, len(current) - 1) + 1):
            if current[degree] and syndromes[step - degree]:
                gap ^= _POWER[_LOG[current[degree]] + _LOG[syndromes[step - degree]]]
        if gap == 0:
            shift += 1
            continue
        factor = (_LOG[gap] - _LOG[last]) % LENGTH
        before = current
        current = current + [0] * (len(previous) + shift - len(current))
        for degree, value in enumerate(previous):
            if value:
                current[degree + shift] ^= _POWER[_LOG[value] + factor]
        if 2 * length <= step:
            length, previous, last, shift = step + 1 - length, before, gap, 1
        else:
            shift += 1
    while current[-1] == 0:
        current = current[:-1]
    return current if len(current) - 1 == length else [1] * (CORRECTABLE + 2)


def _roots(locator: list[int]) -> list[int]:
    """Chien search: positions whose inverse power is a root."""
    logs = np.array([[_LOG[value], degree] for degree, value in enumerate(locator) if value])
    values = _POWERS[(logs[:, :1] - logs[:, 1:] * np.arange(LENGTH)) % LENGTH]
    return [int(position) for position in np.flatnonzero(np.bitwise_xor.reduce(values, axis=0) == 0)]
