"""CLIP's text encoder with the prefix cache against transformers' own forward pass, and against the ceiling of the arithmetic.

    pip install ".[portrait]"
    python -m bench.prompt_cache [--shape l14 b32] [--batch 1 8] [--rounds 15] [--threads 1]

Seeded weights in the published sizes: the time doesn't depend on what they say. A prompt is a prefix of 40 tokens that has been seen and
10 new ones. Ceiling: the tokens that the plain pass computes over those that are left (77 / 37 padded, 50 / 10 not). One prompt alone
can't come near it on a CPU: the pass then takes as long as reading the weights (340 MB of L/14) from memory, however few the tokens.
"""

import argparse
from typing import Any

from bench.report import interleaved, show
from engines.text_encoder.encoder import ClipEncoder
from engines.text_encoder.weights import END, L14, START, WINDOW, seeded

PREFIX, NEW = 40, 10
SHAPES = {
    "l14": L14,
    "b32": {"hidden_size": 512, "intermediate_size": 2048, "num_attention_heads": 8, "num_hidden_layers": 12},
}


def prompts(first: int, count: int, padded: bool) -> list[list[int]]:
    """That many prompts with the common prefix and new ends."""
    rows = []
    for i in range(first, first + count):
        words = [START, *range(1_000, 1_000 + PREFIX - 1), *(20_000 + (i * 31 + j * 7) % 20_000 for j in range(NEW - 1))]
        rows.append([*words, END] + [END] * (WINDOW - PREFIX - NEW if padded else 0))
    return rows


def measure(shape: str, batch: int, rounds: int) -> dict[str, Any]:
    import torch

    model = seeded(SHAPES[shape])
    encoder, warm, whole = ClipEncoder(model, 64 << 20), ClipEncoder(model, 64 << 20), ClipEncoder(model, 64 << 20)
    for each in (encoder, warm):
        each.encode(prompts(0, 1, padded=True))
    known = prompts(0, batch, padded=True)
    whole.encode(known)
    turn = iter(range(1, 1 << 30))  # never the same end twice

    def plain(padded: bool) -> None:
        with torch.no_grad():
            model(torch.tensor(prompts(next(turn) * 100, batch, padded)))

    def cached(of: ClipEncoder, padded: bool) -> None:
        of.encode(prompts(next(turn) * 100, batch, padded))

    times = interleaved(
        {
            "plain_padded": lambda: plain(True),
            "cached_padded": lambda: cached(encoder, True),
            "plain": lambda: plain(False),
            "cached": lambda: cached(warm, False),
            "exact_hit": lambda: whole.encode(known),
        },
        rounds,
    )
    with torch.no_grad():
        row = prompts(7, 1, True)
        off = float((encoder.encode(row)[0].hidden - model(torch.tensor(row)).last_hidden_state[0]).abs().max())
    ceilings = (WINDOW / (WINDOW - PREFIX), (PREFIX + NEW) / NEW)
    speedups = (times["plain_padded"] / times["cached_padded"], times["plain"] / times["cached"])
    return {
        "shape": shape, "batch": batch, **{f"{name}_ms": value for name, value in times.items()},
        "speedup_padded": speedups[0], "of_ceiling_padded": speedups[0] / ceilings[0],
        "speedup": speedups[1], "of_ceiling": speedups[1] / ceilings[1], "largest_difference": off,
    }  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--shape", nargs="*", default=list(SHAPES), choices=list(SHAPES))
    parser.add_argument("--batch", nargs="*", type=int, default=[1, 8])
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(given.threads)
    show("prompt_cache", [measure(shape, batch, given.rounds) for shape in given.shape for batch in given.batch])


if __name__ == "__main__":
    main()
