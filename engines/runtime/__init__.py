"""How a graph runs. Models see the `Session` protocol only; `open_session` alone imports a backend, and lazily."""

from engines.runtime.session import Session, TensorSpec, open_session

__all__ = ["Session", "TensorSpec", "open_session"]
