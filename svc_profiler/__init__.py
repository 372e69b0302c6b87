"""Measures or models how long a verified candidate takes."""
