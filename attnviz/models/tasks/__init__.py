"""Tasks that models are trained for."""
