"""Tools of the repository: the door that sets everything up, the model pack, the constraints, the README's picture."""
