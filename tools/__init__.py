"""Tools of the repository; the studio runs without them."""
