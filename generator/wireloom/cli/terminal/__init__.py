"""Console output of commands: lines, progress, and work that can be interrupted."""
