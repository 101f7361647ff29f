"""Building a struct: fields in a buffer first, then what follows from where they came to stand.

Derived values come first, then checksums, inner ones before those that cover them.
"""

import io
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

from construct import Container

from wireloom.runtime.errors import EncodeError
from wireloom.runtime.expressions import LayoutPendingError
from wireloom.runtime.parsers.fields import Field
from wireloom.runtime.parsers.protocol import MISSING, Form, Sink, Step, WireStruct, evaluate, holds
from wireloom.runtime.parsers.steps import Mark


class Buildable(WireStruct, Protocol):
    """What building needs to know of a struct."""

    steps: Sequence[Step]
    fields: tuple[Field, ...]
    form: Form
    sequential: bool

    def _building_scope(self, value: Mapping[str, Any], context: Container, stream: Any) -> Container:
        """The names that expressions see while `value` is built."""


class Layout:
    """One struct being built: fields in a buffer first, then what follows from where they came to stand."""

    def __init__(self, struct: Buildable, value: Mapping[str, Any], stream: Any, context: Container) -> None:
        self.struct = struct
        self.stream = stream
        self.binary = struct.sequential
        self.target = io.BytesIO() if self.binary else stream
        self.scope = struct._building_scope(value, context, self.target)
        self.pending: list[tuple[Field, int]] = []

    def build(self) -> None:
        """Write the struct to the stream."""
        self._derive_early()
        fields = [step for step in self.struct.fields if holds(step.when, self.scope)]
        sink = self.struct.form.create(self.struct, self.target, self.scope, fields)
        tail = [step for step in fields if isinstance(step.at, int) and step.at < 0]
        for step in self.struct.steps:
            if isinstance(step, Mark) and self.binary:
                self.scope._marks[step.name] = self.target.tell()
            elif isinstance(step, Field) and step in fields and step not in tail:
                self._write(step, sink)
        for step in tail:
            self._write(step, sink)
        sink.close()
        if self.binary:
            self._settle()
            self.stream.write(self.target.getvalue())

    def _derive_early(self) -> None:
        """Give expressions what can be known before the layout: derived fields, and the bits of integers."""
        for step in self.struct.fields:
            if step.derive is not None and not step.bits:
                with suppress(LayoutPendingError):
                    self.scope[step.name] = evaluate(step.derive, self.scope)
            for bit in step.bits:
                if bit.derive is not None:
                    self.scope[bit.name] = evaluate(bit.derive, self.scope)

    def _write(self, step: Field, sink: Sink) -> None:
        try:
            stream = sink.place(step)
            self._pad_to(step)
            start = self.target.tell() if self.binary else 0
            value = self._value(step, start)
            if value is not MISSING:
                step.subcon._build(value, stream, self.scope, "")
        except EncodeError as error:
            raise error.at(step.title or step.name) from None

    def _value(self, step: Field, start: int) -> Any:
        """The value to write; for one that the layout decides, something of its width, to be written over."""
        if step.checksum is None:
            with suppress(LayoutPendingError):
                return step.value_to_build(self.scope)
        self.pending.append((step, start))
        return getattr(step.subcon, "placeholder", 0)

    def _pad_to(self, step: Field) -> None:
        if step.at is None or (isinstance(step.at, int) and step.at < 0):
            return
        target = step.at if isinstance(step.at, int) else evaluate(step.at, self.scope)
        gap = target - self.target.tell()
        if gap < 0:
            raise EncodeError(f"to stand at byte {target}", f"byte {self.target.tell()} reached")
        self.target.write(bytes(gap))

    def _settle(self) -> None:
        """Derived values first, then checksums, each after those that it covers."""
        self.scope._size = self.target.tell()
        for step, start in self.pending:
            if step.checksum is None:
                value = step.value_to_build(self.scope)
                self.scope[step.name] = value
                self._patch(step, start, value)
        waiting = [(step, start) for step, start in self.pending if step.checksum is not None]
        for step, start in sorted(waiting, key=lambda item: sum(self._covers(item, other) for other in waiting)):
            first, last = self._range(step)
            assert step.checksum is not None
            self._patch(step, start, step.checksum.algorithm(self.target.getvalue()[first:last]))

    def _range(self, step: Field) -> tuple[int, int]:
        assert step.checksum is not None
        return step.checksum.start(self.scope), step.checksum.end(self.scope)

    def _covers(self, outer: tuple[Field, int], inner: tuple[Field, int]) -> bool:
        first, last = self._range(outer[0])
        return outer is not inner and first <= inner[1] < last

    def _patch(self, step: Field, start: int, value: Any) -> None:
        end = self.target.tell()
        self.target.seek(start)
        try:
            step.subcon._build(value, self.target, self.scope, "")
        except EncodeError as error:
            raise error.at(step.title or step.name) from None
        self.target.seek(end)
