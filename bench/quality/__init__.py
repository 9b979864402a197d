"""How good the fusion looks, measured pair by pair: `python -m bench.quality --help`; what it means is in docs/quality.md."""
