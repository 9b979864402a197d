"""What a vision model made of a picture, kept for the next time: for a persona whose crop goes before every question.

    store (tensors by key, in memory and on disk, least recently used go)  ←  features (what a key is made of)
    inputs (kept features before a language model)

Needs the extra `portrait`; torch is imported when it is used. Nothing is written to disk unless a folder is given: features are made from
a person's picture, and a model can guess from them what was in it.
"""
