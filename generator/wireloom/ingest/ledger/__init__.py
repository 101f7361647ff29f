"""What an output holds: the ledger of its batches, who works on it, and whose it is."""
