"""Where the heat is: files whose blocks will be written, and directories of short lives."""

from birthmark.predictor.heat.directories import HotDirs, directories
from birthmark.predictor.heat.fill import asked, bar, fill
from birthmark.predictor.heat.model import Heat
from birthmark.predictor.heat.rates import RATES, WriteRates
from birthmark.predictor.heat.reconsider import reconsider, settled

__all__ = [
    "RATES",
    "Heat",
    "HotDirs",
    "WriteRates",
    "asked",
    "bar",
    "directories",
    "fill",
    "reconsider",
    "settled",
]
