"""A page about one day of a server, for people."""

from birthmark.training.reports.day.figures import Figures, measure
from birthmark.training.reports.day.page import render

__all__ = ["Figures", "measure", "render"]
