"""What is measured: each benchmark is run by python -m benchmarks.NAME and has limits."""
