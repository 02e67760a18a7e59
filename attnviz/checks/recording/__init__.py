"""Recording: the arrays of PyTorch modules while they run."""
