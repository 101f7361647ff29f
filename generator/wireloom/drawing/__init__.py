"""Draws values of a format from its model: tests build them, and `compat` tries them on two specs."""
