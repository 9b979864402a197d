"""Feeds a stack to a graph in as many batches as the session takes at once."""

import numpy as np
from numpy.typing import NDArray

from engines.runtime.session import Array, Session


def run_stack(session: Session, name: str, stack: NDArray[np.float32], most: int = 16) -> dict[str, Array]:
    """Runs `stack` (N, …), N ≥ 1, through input `name`; the outputs are joined along their first axis, which must be the batch.

    Args:
        most: items in one batch, where the session would take more: it bounds the memory of the activations.
    """
    step = max(1, min(session.max_batch, most))
    parts = [session.run({name: np.ascontiguousarray(stack[i : i + step])}) for i in range(0, len(stack), step)]
    if len(parts) == 1:
        return parts[0]
    return {key: np.concatenate([part[key] for part in parts]) for key in parts[0]}
