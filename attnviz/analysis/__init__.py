"""Analyses of a pass: audit, gradients, flips, comparison with another pass, and provenance of numbers."""
