"""Commands that write tables or maintain them."""
