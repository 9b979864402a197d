"""The formats: what a file is (by content), its header, its samples, and their way to sRGB. `engines.vision.io` puts them together."""
