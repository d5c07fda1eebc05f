"""Heat: files whose blocks will be written, and directories of short lives."""

from birthmark.predictor.heat.directories import HotDirs, directories
from birthmark.predictor.heat.fill import bar, entry_bar, fill
from birthmark.predictor.heat.model import Heat
from birthmark.predictor.heat.rates import RATES, WriteRates
from birthmark.predictor.heat.reconsider import reconsider, settled

__all__ = [
    "RATES",
    "Heat",
    "HotDirs",
    "WriteRates",
    "bar",
    "directories",
    "entry_bar",
    "fill",
    "reconsider",
    "settled",
]
