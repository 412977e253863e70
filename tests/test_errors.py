from __future__ import annotations

import pickle

from devcem.errors import UserError


def test_an_error_says_what_where_and_what_to_do() -> None:
    error = UserError("no such class 'polip'", "segments.csv:3:8", "write 'polyp'")
    assert str(error) == "segments.csv:3:8: no such class 'polip'. Remedy: write 'polyp'"
    assert str(UserError("the folder is empty.")) == "the folder is empty."


def test_an_error_comes_back_whole_from_a_worker_process() -> None:
    error = pickle.loads(pickle.dumps(UserError("what", "where", "remedy")))  # noqa: S301  our own bytes
    assert (error.what, error.where, error.remedy) == ("what", "where", "remedy")
