"""Models: attention whose parameters mean something, since they were learnt or chosen for a task."""
