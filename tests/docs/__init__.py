"""What documents, samples and the project's layout promise."""
