"""Statistics: confidence intervals, tests of bounds, and the standing of each bound.

There are a bootstrap over blocks of time, exact binomial intervals, a sequential test for every
night, and the standing that these give a bound on wrong answers.
"""
