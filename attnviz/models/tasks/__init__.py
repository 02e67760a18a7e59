"""Tasks that models are trained for, a family in each module."""
