"""What is timed, and against what. Run with `python -m benchmarks.NAME`."""
