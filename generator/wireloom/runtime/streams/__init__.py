"""Records one after the other in a file or a buffer: where each begins and ends, and their columns part by part."""
