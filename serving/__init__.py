"""Answers over HTTP.

A request comes in through `workers`. Predictions and hints are answered in native threads, and all
else by the `app`. `messages` defines requests and
responses, `answers` computes them from the `models`, and `service` holds these. `page` shows the
state to people, `metrics` to Prometheus; `log` records it. `client` is a client library.
"""
