from __future__ import annotations

from birthmark.serving.client.breaker import FAILURES, FIRST_SECONDS, LONGEST_SECONDS, Breaker


class Clock:
    time = 100.0

    def __call__(self) -> float:
        return self.time


def opened(clock: Clock) -> Breaker:
    breaker = Breaker(clock)
    for _ in range(FAILURES):
        assert breaker.may_ask()
        breaker.failed()
    return breaker


def test_a_breaker_opens_only_after_failures_in_a_row() -> None:
    breaker = Breaker(Clock())
    for _ in range(FAILURES - 1):
        breaker.failed()
    breaker.succeeded()
    for _ in range(FAILURES - 1):
        breaker.failed()
    assert breaker.may_ask()
    breaker.failed()
    assert not breaker.may_ask()


def test_one_question_at_a_time_probes_once_the_wait_is_over() -> None:
    clock = Clock()
    breaker = opened(clock)
    clock.time += 0.9 * FIRST_SECONDS
    assert not breaker.may_ask()
    clock.time += 0.2 * FIRST_SECONDS
    assert [breaker.may_ask() for _ in range(3)] == [True, False, False]


def test_the_wait_doubles_up_to_its_bound_and_an_answer_ends_it() -> None:
    clock = Clock()
    breaker = opened(clock)
    waits = []
    for _ in range(12):
        begin = clock.time
        while not breaker.may_ask():
            clock.time += FIRST_SECONDS / 10
        waits.append(clock.time - begin)
        breaker.failed()
    assert [round(wait, 1) for wait in waits[:3]] == [0.1, 0.2, 0.4]
    assert round(waits[-1]) == LONGEST_SECONDS
    breaker.succeeded()
    assert breaker.may_ask()
    assert not breaker.is_open
