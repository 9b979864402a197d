"""CLIP's text encoder with a prefix cache: a persona's fixed words are computed once.

    radix (spans of tokens in a tree, least recently used go)  ←  clip_text (the layers, with keys and values of what came before)
    ←  encoder (texts or ids in, embeddings out)  ←  pipelines (what diffusers takes)

Needs the extra `torch`; nothing here is imported before an encoder is made.
"""
