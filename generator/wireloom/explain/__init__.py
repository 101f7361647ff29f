"""What `wireloom explain` shows of a format: the engine paths of its roots, and its write plan."""
