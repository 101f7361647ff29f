"""Records that follow one another in a file or a buffer: where each begins and ends, and their columns in parts."""
