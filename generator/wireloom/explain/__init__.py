"""The content of `wireloom explain`: the engine paths of each root of a format, and its write plan."""
