"""The ledger of an output's batches, the lease of the job that works on it, and the ownership of its folders."""
