"""A sound format -> the model that is emitted: what melts is copied, what recurs unrolled, what is hidden filled."""
