"""Answers: operating points, levels and three-way answers."""
