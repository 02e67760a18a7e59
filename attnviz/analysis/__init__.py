"""Questions that can be asked of a pass: its audit, its gradients, what differs, where a number comes from."""
