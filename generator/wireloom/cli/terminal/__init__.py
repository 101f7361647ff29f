"""What commands show while they work: lines, progress, and work that can be interrupted."""
