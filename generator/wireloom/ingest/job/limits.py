"""Limits on refused records. A job that exceeds one stops without loss: its input was not written and is read again."""

from dataclasses import dataclass

from wireloom.failures import LimitError
from wireloom.ingest.job.amount_texts import size_text
from wireloom.ingest.plan import Summary


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of a batch and of a quarantine; None for no limit."""

    percent: float | None = None  # of the records, or of the bytes, of a batch
    size: int | None = None  # bytes in the quarantine

    def check(self, summary: Summary, held: int = 0) -> None:
        """Raise LimitError if a batch has too many bad records; `held` is the size of the quarantine so far."""
        for share, unit in ((_share(summary.quarantined, summary.records), "records"), (_bytes(summary), "bytes")):
            if self.percent is not None and share > self.percent:
                raise LimitError(
                    f"{share:.3g} % of the {unit} are bad{_codes(summary)}, more than --fail-above {self.percent:g}; "
                    f"{_ADVICE}",
                    summary,
                )
        self.check_size(held + summary.bad_size, _codes(summary))

    def check_size(self, size: int, codes: str = "") -> None:
        """Raise LimitError if the quarantine would exceed its limit."""
        if self.size is not None and size > self.size:
            raise LimitError(
                f"{size_text(size)} go to the quarantine{codes}, more than --max-quarantine {size_text(self.size)}; "
                f"{_ADVICE}"
            )


_ADVICE = "they are not in the tables, and the next start reads them again; check the input, or raise the limit"
NONE = Limits()


def _share(part: int, whole: int) -> float:
    return 100 * part / whole if whole else 0.0


def _bytes(summary: Summary) -> float:
    return _share(summary.bad_size, summary.size)


def _codes(summary: Summary) -> str:
    shown = ", ".join(f"{code} {count}" for code, count in summary.codes[:3])
    return f" ({shown})" if shown else ""
