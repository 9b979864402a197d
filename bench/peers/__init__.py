"""Side by side with what others use. Peers live in throw-away environments; the product never imports them."""
