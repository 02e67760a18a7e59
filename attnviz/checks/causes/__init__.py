"""Causes: what people get wrong in attention, each as other steps of a pass; a module for each part of it."""
