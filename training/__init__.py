"""Training, evaluation, the registry and the nightly run.

`learn` makes models, `evaluate` tests them with `statistics`, `reports` shows what came of it, the
`registry` keeps versions, `audit` compares what was served with what happened, and `nightly` does
all of that in its order, as `config` says, on the workers of an `engine`.
"""
