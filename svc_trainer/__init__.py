"""Turns the corpus into training signals."""
