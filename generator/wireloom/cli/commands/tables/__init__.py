"""Commands that write tables or look after them."""
