"""Answers over HTTP.

A request comes in through `workers` and `http`, passes `access` and `limits`, and is answered by
the `app` or, for predictions and hints, on the `fast_path`. `messages` defines requests and
responses, `answers` computes them from the `models`, and `service` holds these. `page` shows the
state to people, `metrics` to Prometheus; `log` records it. `client` is a client library.
"""
