"""Runs that are killed before one of their moves."""

from collections.abc import Callable

import pytest


class KilledError(BaseException):
    """Here the process ends: nobody who handles errors sees it."""


def killed_before(move: int, storage: type, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> bool:
    """Run it until it would rename with a storage for the time of that number, from 0; whether it came so far."""
    rename = storage.rename  # type: ignore[attr-defined]
    done: list[tuple[str, ...]] = []

    def counted(self: object, *names: str) -> None:
        if len(done) == move:
            raise KilledError
        done.append(names)
        rename(self, *names)

    with monkeypatch.context() as patch:
        patch.setattr(storage, "rename", counted)
        try:
            act()
        except KilledError:
            return True
    return False
