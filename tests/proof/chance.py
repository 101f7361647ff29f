"""Chance with a seed: what one seed makes, it makes again."""

import random
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

_Option = TypeVar("_Option")


class Chance(random.Random):
    """The choices that a spec, its values and its records are made by."""

    def often(self, share: float) -> bool:
        """True in that share of cases."""
        return self.random() < share

    def one(self, options: Sequence[_Option]) -> _Option:
        """One of the options."""
        return options[int(self.random() * len(options))]

    def some(self, options: Sequence[_Option], least: int = 0) -> list[_Option]:
        """Some of the options, in their order."""
        count = self.randint(min(least, len(options)), len(options))
        return [options[place] for place in sorted(self.sample(range(len(options)), count))]

    def weighted(self, options: Sequence[tuple[float, _Option]]) -> _Option:
        """One of the options, by weight."""
        (chosen,) = self.choices([option for _, option in options], [weight for weight, _ in options])
        return chosen

    def does(self, options: Sequence[tuple[float, Callable[[], Any]]]) -> Any:
        """What one of the makers makes."""
        return self.weighted(options)()
