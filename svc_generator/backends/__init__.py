"""The authors of candidates: one module each, behind `base.Backend`."""
