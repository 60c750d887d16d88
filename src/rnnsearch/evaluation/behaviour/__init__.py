"""The behaviour suite, which tests the capabilities of a translator on generated lines.

As in CheckList (Ribeiro et al. 2020), each capability has templates, whose slots are filled from lists. A line is right if
its translation follows rules: it contains, keeps or lacks something. No rule knows a whole translation, so that every good
one passes. The templates, lists and rules of a pair of languages are in the file of its name in this folder, `en-fr.toml`.
"""

from __future__ import annotations

from rnnsearch.evaluation.behaviour.suite import Capability, Line, Suite, Tried, read_suite, summary

__all__ = ["Capability", "Line", "Suite", "Tried", "read_suite", "summary"]
