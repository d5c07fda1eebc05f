"""The folders of the project, each of which imports only from those before it."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESEARCH = "research"
FOLDERS = ["data", "features", "predictor", "training", "serving", "layout_hint", "storage"]
if (ROOT / RESEARCH).is_dir():  # nothing needs it: a clone may do without
    FOLDERS.append(RESEARCH)
