"""The stages of a verification, its policy and its report."""
