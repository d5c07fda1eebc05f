"""Where the heat is: files whose blocks will be written, and directories of short lives."""

from predictor.heat.directories import HotDirs, directories
from predictor.heat.fill import asked, bar, fill
from predictor.heat.model import Heat
from predictor.heat.rates import RATES, WriteRates
from predictor.heat.reconsider import reconsider, settled

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
