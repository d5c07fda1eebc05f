"""Statistics: confidence intervals, tests of bounds, and the standing of each bound.

There are a bootstrap over blocks of time, exact binomial intervals, and the standing of a bound on
wrong answers.
"""
