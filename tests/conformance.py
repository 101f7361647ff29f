"""Checks the generated codecs with vectors that others made: `python tests/conformance.py DIR...`.

Every `manifest.json` below each DIR is recognised by its content. Each of its vectors is decoded, and the values are
compared. Every failure is shown with what was expected and what was found.

Exit codes: 0 all passed; 1 a vector failed or could not be read, or there was none.
"""

import json
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Protocol


def _add_checkout() -> None:
    """Use the generated package of this checkout before an installed one; also its generator if none is installed."""
    checkout = Path(__file__).resolve().parent.parent
    sys.path.insert(0, str(checkout / "generated"))
    sys.path.append(str(checkout / "generator"))


_add_checkout()

from judging import aerospike, databus, kpl, specs  # noqa: E402 - the path comes first
from judging.verdicts import Manifest, Verdict, cut  # noqa: E402


class Judge(Protocol):
    """A module of `judging`."""

    FAMILY: str

    def recognises(self, manifest: Manifest) -> bool:
        """Whether the manifest has this judge's form."""

    def judge(self, folder: Path, manifest: Manifest) -> Iterator[Verdict]:
        """A verdict for each vector."""


JUDGES: tuple[Judge, ...] = (specs, aerospike, kpl, databus)


class UnjudgeableError(Exception):
    """There are no vectors to check."""


def verdicts(folder: Path) -> Iterator[Verdict]:
    """A verdict for every vector of every manifest below the folder; raises UnjudgeableError."""
    manifests = sorted(folder.rglob("manifest.json"))
    if not manifests:
        raise UnjudgeableError(f"{folder}: no manifest.json below it")
    for path in manifests:
        yield from _manifest_verdicts(path)


def _manifest_verdicts(path: Path) -> Iterator[Verdict]:
    """The verdicts of one manifest. A broken manifest fails, and the next one is still checked."""
    try:
        manifest = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        yield _failed("manifest", path, f"cannot be read: {error}")
        return
    for judge in JUDGES:
        try:
            if isinstance(manifest, dict) and judge.recognises(manifest):
                yield from judge.judge(path.parent, manifest)
                return
        except Exception as error:  # noqa: BLE001 - a manifest may be wrong in any way
            yield _failed(judge.FAMILY, path, f"cannot be judged: {type(error).__name__}: {error}")
            return
    yield _failed("manifest", path, "no known form of manifest")


def _failed(family: str, path: Path, finding: str) -> Verdict:
    return Verdict(family, str(path), (cut(finding),))


def main(folders: Sequence[str]) -> int:
    """Check every folder; returns the exit code."""
    if not folders or any(folder.startswith("-") for folder in folders):
        _say((__doc__ or "").strip())
        return 0 if set(folders) <= {"-h", "--help"} and folders else 1
    found: list[Verdict] = []
    troubles: list[str] = []
    for folder in folders:
        try:
            found.extend(verdicts(Path(folder)))
        except UnjudgeableError as error:
            troubles.append(str(error))
    _report(found, troubles)
    return 0 if found and not troubles and all(verdict.passed for verdict in found) else 1


def _report(found: Sequence[Verdict], troubles: Sequence[str]) -> None:
    for verdict in found:
        if not verdict.passed:
            _say(f"FAILED {verdict.family} {verdict.name}")
            for finding in verdict.findings:
                _say(f"    {finding}")
    for trouble in troubles:
        _say(f"FAILED {trouble}")
    total = Counter(verdict.family for verdict in found)
    passed = Counter(verdict.family for verdict in found if verdict.passed)
    for family, count in total.items():
        _say(f"{family}: {passed[family]}/{count}")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
