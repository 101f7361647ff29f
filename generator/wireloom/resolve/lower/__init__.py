"""Turn a format without mistakes into the model: copy flattened structs, unroll recursion, fill in hidden values."""
