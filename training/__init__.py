"""Training, evaluation, the registry and the nightly run.

`learn` trains models, `evaluate` tests them with `statistics`, `reports` presents the results, the
`registry` stores versions, and `audit` compares served predictions with outcomes. `nightly` runs
these steps by its `config`, on the workers of an `engine`.
"""
