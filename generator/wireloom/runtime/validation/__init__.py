"""Everything that is wrong with a message, at once: the decoder's verdict, and the JSON Schema's list.

What the decoder accepts is valid. Only what it refuses is held to the schema, which finds all problems where the
decoder stops at its first; where the schema has nothing to say of it, the decoder's own error is the problem.
"""

from wireloom.runtime.validation.problems import Problem
from wireloom.runtime.validation.validator import Validator

__all__ = ["Problem", "Validator"]
