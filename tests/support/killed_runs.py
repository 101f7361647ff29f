"""Simulates runs that are killed before one of their moves."""

from collections.abc import Callable

import pytest


class KilledError(BaseException):
    """The simulated end of the process; no handler of Exception catches it."""


def killed_before(move: int, storage: type, monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> bool:
    """Run `act` until its rename number `move` (from 0) with the storage class; returns whether it got that far."""
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
