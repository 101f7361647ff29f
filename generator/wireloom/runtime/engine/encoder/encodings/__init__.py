"""The part of the encoder that is specific to one encoding: how its values are written."""
