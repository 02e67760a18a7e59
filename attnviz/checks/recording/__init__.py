"""Recording: a PyTorch module's attention as arrays, heard by its own hooks; attnviz never imports torch."""
