"""What a prompt costs before it is sent: the tokens of a picture and of a text, counted as each model counts them.

    layout (cells over a picture)  ←  patches · tiles (one formula a family)  ←  visual (the models, as data)
    catalogue (the tables' rows)  ←  visual, text, prices
    text (the tokenizers, as data)  ←  window (what CLIP reads of a text, and chunks that fit)

No module here reads a pixel, opens a network connection or imports a framework.
"""
