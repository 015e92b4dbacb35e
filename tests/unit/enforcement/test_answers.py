# SPDX-License-Identifier: Apache-2.0
"""The texts of an enforcement service for users."""
import json

import pytest

from climate.enforcement import answers


@pytest.mark.parametrize(('text', 'shown'), [
    ("InsufficientCredits('Insufficient VCPU credits.')", 'Insufficient VCPU credits.'),
    ('QuotaExceeded("it\'s over")', "it's over"),
    ("Error('it\\'s over')", "it's over"),
    ("KeyError('a',)", 'a'),
    ('No matching account found', 'No matching account found'),
    ('two\nlines\tand\x1b[31m red', 'two lines and [31m red'),
    ('say (nothing)', 'say (nothing)'),
    ("Error('first\\nsecond')", 'first second'),
])
def test_a_text_is_one_line_without_the_python_around_it(text, shown):
    assert answers.one_line(text) == shown


def test_a_text_has_at_most_500_characters():
    assert len(answers.one_line('a' * 501)) == 500
    assert answers.one_line('a' * 500) == 'a' * 500


@pytest.mark.parametrize(('content', 'reason'), [
    (json.dumps({'message': 'No credits.'}).encode(), 'No credits.'),
    (json.dumps({'error': "Error('No credits.')"}).encode(), 'No credits.'),
    (b'{"message": 7}', 'it gives no reason.'),
    (b'["message"]', 'it gives no reason.'),
    (b'no JSON', 'it gives no reason.'),
    (b'[' * 100_000, 'it gives no reason.'),
    (b'\xff\xfe', 'it gives no reason.'),
    (b'{"message": ""}', 'it gives no reason.'),
])
def test_a_refusal_has_the_text_of_either_key_or_none(content, reason):
    assert answers.Answer(403, content).reason == reason
