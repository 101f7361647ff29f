"""Tests of the documents, the samples and the project's layout."""
