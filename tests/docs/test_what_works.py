"""The page what-works.md matches the result of trying each feature."""

import pytest

from docs import what_works as works
from wireloom.runtime import engine as engines

pytestmark = [
    pytest.mark.skipif(not engines.available(), reason="the native engine is not built"),
    pytest.mark.thorough,
]


def test_what_works_with_what_is_as_the_page_says():
    assert works.page() == works.PAGE.read_text(encoding="utf-8"), "python tests/docs/what_works.py"
