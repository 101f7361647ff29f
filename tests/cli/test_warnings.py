"""Warnings of the program are sentences, without a line of its code."""

import sys
import warnings

import pytest

from wireloom.cli import main


def test_a_warning_is_its_message(monkeypatch, capsys):
    monkeypatch.setattr(warnings, "formatwarning", warnings.formatwarning)
    monkeypatch.setattr(sys, "argv", ["wireloom", "--version"])
    with pytest.raises(SystemExit):
        main()
    shown = warnings.formatwarning(RuntimeWarning("no native engine"), RuntimeWarning, "host.py", 12, "module()")
    assert shown == "no native engine\n"
