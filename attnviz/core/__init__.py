"""Attention itself: settings, words, parameters, operations, stages. Pure NumPy."""
