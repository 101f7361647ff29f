"""Everything that is wrong with a message, at once: the verdict of the decoder, and the list of the JSON Schema.

A message that the decoder accepts is valid. Only a refused message is checked against the schema, which finds all
problems where the decoder stops at its first. If the schema finds none, the decoder's own error is the problem.
"""

from wireloom.runtime.validation.problems import Problem
from wireloom.runtime.validation.validator import Validator

__all__ = ["Problem", "Validator"]
