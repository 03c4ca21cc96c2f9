"""Studies to try, the demo, and commands that make parts of the docs."""
