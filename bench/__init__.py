"""Measures what the README states; every script prints a table and writes JSON. Nothing here is a test."""
