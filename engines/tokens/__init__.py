"""What a prompt costs before it is sent: the tokens of a picture, counted as each model counts them.

    layout (cells over a picture)  ←  patches · tiles (one formula a family)  ←  visual (the models, as data)

No module here reads a pixel, opens a network connection or imports a framework.
"""
