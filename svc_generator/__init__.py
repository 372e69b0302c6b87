"""Writes candidates: by rules, or by a language model behind an OpenAI-compatible endpoint."""
