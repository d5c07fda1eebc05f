"""How sure a figure is: intervals, tests of bounds, and what is known of each bound.

A bootstrap over blocks of time, exact binomial intervals, a test that may be asked every night, and
the standing that these give a bound on wrong answers.
"""
