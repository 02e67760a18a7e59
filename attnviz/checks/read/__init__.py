"""Read: what arrays of unknown names, layouts and precision hold."""
