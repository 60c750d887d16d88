"""Compares a student's implementation of the model with the equations of the paper, and names the mistakes in it."""

from __future__ import annotations

from rnnsearch.checking.examine import check as check
from rnnsearch.checking.report import Finding as Finding
from rnnsearch.checking.report import Report as Report
from rnnsearch.checking.template import template as template
