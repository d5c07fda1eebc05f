"""Answers over HTTP.

A request comes in through `workers` and `http`, passes `access` and `limits`, and is answered by
the `app` or, where every create asks, on the `fast_path`: `messages` says what is asked, `answers`
works it out from the `models`, all of which `service` holds. `page` shows people how that goes,
`metrics` programs; `log` writes it down. `client` is for those who ask.
"""
