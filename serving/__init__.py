"""Answers over HTTP.

The `server` listens. Its native threads answer predictions and hints from the images of the
`models`, and pass all else to the `app`, after the checks that `access` declares. `messages`
defines requests and responses, `answers` explains, and `service` holds what the paths share. `page`
shows the state to people, `metrics` to Prometheus; `log` records it. `client` is a client library.
"""
