"""Everything that is wrong with a message, at once: the decoder's verdict, and the problems by the JSON Schema.

A message that the decoder accepts is valid. Only a refused message is checked against the schema, which finds all
problems, while the decoder stops at its first. If the schema finds none, the decoder's own error is the problem.
"""

from wireloom.runtime.validation.problems import Problem
from wireloom.runtime.validation.validator import Validator

__all__ = ["Problem", "Validator"]
