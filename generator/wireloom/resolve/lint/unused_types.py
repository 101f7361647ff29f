"""Types that no root leads to: they are read, so that their notation is checked, and are no part of the model."""

from wireloom.resolve.bind.draft import Draft
from wireloom.resolve.bind.outline import all_mentioned


def check_use(draft: Draft, unused: tuple[str, ...]) -> None:
    """Report types that no root leads to, but for those that only another of them leads to."""
    led = {name: all_mentioned(draft, [name]) for name in unused}
    below = {each for name in unused for each in led[name] if name not in led.get(each, (name,))}
    for name in unused:
        if name not in below:
            place = draft.place / "types" / name
            draft.warns_entry(place, "unreachable-type", f"no root uses {name}", "use it, or drop it")
