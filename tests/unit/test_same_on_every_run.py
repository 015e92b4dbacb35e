# SPDX-License-Identifier: Apache-2.0
"""The quick suite tries the same things on every run."""
import importlib
import secrets
import uuid

import hypothesis
from hypothesis import strategies as st
import pytest
from support import thinning

_DRAWN = []


def test_ids_and_tokens_are_the_same_on_every_run():
    assert str(uuid.uuid4()) == '5cd9a7b3-fd6e-4347-9878-0b4dc563a6c0'
    assert secrets.token_hex(4) == '49a54110'


@hypothesis.given(st.integers(0, 10 ** 9))
def _draw(number):
    _DRAWN.append(number)


def _drawn():
    _DRAWN.clear()
    _draw()
    return tuple(_DRAWN)


def test_a_property_has_the_same_examples_whatever_modules_are_imported(tmp_path, monkeypatch):
    assert hypothesis.settings().derandomize
    assert hypothesis.settings().database is None
    before = _drawn()
    (tmp_path / 'of_constants.py').write_text(f'NUMBERS = {[*range(7000, 7400, 3)]}\n')
    monkeypatch.syspath_prepend(tmp_path)
    importlib.import_module('of_constants')
    assert _drawn() == before


def test_a_thinned_table_keeps_all_its_rows_and_most_are_proofs():
    rows = [('a', 1), ('b', 2), pytest.param('c', 3, id='third'), ('d', 4), ('e', 5)]
    thinned = thinning.few(rows, 2)
    assert [thinned[number] for number in (0, 2)] == [rows[0], rows[2]]
    assert [(row.values, row.marks) for row in thinned[3:]] == [
        (row, (pytest.mark.proof,)) for row in rows[3:]]
    assert thinning.few(rows, 1)[2] == pytest.param('c', 3, id='third', marks=pytest.mark.proof)
    assert thinning.few([(1, 2), (3, 4)], 1, is_tuple=True)[1].values == ((3, 4),)
    assert [len(thinning.few(range(10), count)) for count in (0, 3, 10)] == [10] * 3
