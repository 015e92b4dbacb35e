# SPDX-License-Identifier: Apache-2.0
"""A question before each call of the cloud: may whoever makes it still act?

A manager can stand still between any two calls. What it does is asked for call by call, deep in
plugins and adapters, so the question goes with the flow of the program and not through them all.
"""
import contextlib
import contextvars

_QUESTION = contextvars.ContextVar('question', default=None)


@contextlib.contextmanager
def before_each_call(question):
    """Let `question()` be asked before each call that is made inside; what it raises, they raise.

    Calls that are made on other threads for one inside belong to it.
    """
    token = _QUESTION.set(question)
    try:
        yield
    finally:
        _QUESTION.reset(token)


def ask():
    """Nothing, where a call may be made."""
    question = _QUESTION.get()
    if question is not None:
        question()
