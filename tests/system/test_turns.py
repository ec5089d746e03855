"""A lock is given first to who came first, also past a thread that gives it back and takes it again at once."""

from __future__ import annotations

import threading
import time

from semsearch.system.threads import FairLock


def waiting(turns: FairLock, count: int) -> None:
    """Wait until so many threads stand in line."""
    while len(turns._waiting) < count:
        time.sleep(0.001)


def test_turns_come_in_the_order_in_which_they_were_asked_for() -> None:
    turns, order = FairLock(), list[int]()

    def take(number: int) -> None:
        with turns.turn():
            order.append(number)

    threads = [threading.Thread(target=take, args=(number,)) for number in range(5)]
    with turns.turn():
        for number, thread in enumerate(threads):
            thread.start()
            waiting(turns, number + 1)
    for thread in threads:
        thread.join()
    assert order == [0, 1, 2, 3, 4]


def test_who_takes_turn_after_turn_lets_others_in_between() -> None:
    turns, order = FairLock(), list[str]()

    def take() -> None:
        with turns.turn():
            order.append("other")

    thread = threading.Thread(target=take)
    with turns.turn():
        thread.start()
        waiting(turns, 1)
    with turns.turn():
        order.append("again")
    thread.join()
    assert order == ["other", "again"]


def test_a_turn_ends_with_an_error_too() -> None:
    turns = FairLock()
    for _ in range(2):
        try:
            with turns.turn():
                raise ValueError
        except ValueError:
            pass
    with turns.turn():
        pass
