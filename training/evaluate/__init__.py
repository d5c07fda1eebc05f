"""A model put to the test on lives that it has not seen: cases, figures and curves, as tables."""
