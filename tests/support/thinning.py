# SPDX-License-Identifier: Apache-2.0
"""Tables of test cases of which the quick suite runs a few rows, and ``make proofs`` the others."""
import pytest


def few(rows, count, is_tuple=False):
    """Return all rows as parameters of a test; `count` of them, evenly spread, are no proofs.

    Use it for rows that take the same branches of the code. The first row is never a proof.

    :param is_tuple: the test has one parameter, whose values are tuples.
    """
    rows = list(rows)
    quick = {number * len(rows) // count for number in range(count)}
    return [row if number in quick else _proof(row, is_tuple) for number, row in enumerate(rows)]


def _proof(row, is_tuple):
    if isinstance(row, _PARAMETER_SET):
        return row._replace(marks=(*row.marks, pytest.mark.proof))
    values = row if isinstance(row, tuple) and not is_tuple else (row,)
    return pytest.param(*values, marks=pytest.mark.proof)


_PARAMETER_SET = type(pytest.param())
