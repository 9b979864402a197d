"""One file a tab, each with `build(...)`."""
