# SPDX-License-Identifier: Apache-2.0
"""Numbers and nouns agree, in every sentence of the code that begins with a number of things."""
import pathlib
import re

import pytest

import climate
from climate.domain import texts

# A sentence "N of its resources are …" or "N servers of … are being deleted", which 1 makes wrong.
_WRONG = re.compile(
    r"['\"]\{len\([^}]*\)\} (of its resources|servers|hosts|clusters|volumes|images)\b[^'\"]* "
    r'(are|have|wake|were)\b')


@pytest.mark.parametrize(('count', 'words'), [(0, '0 hosts are'), (1, '1 host is'),
                                              (2, '2 hosts are'), (11, '11 hosts are')])
def test_the_words_agree_with_the_number(count, words):
    assert texts.counted(count, 'host is', 'hosts are') == words


def test_no_sentence_has_one_form_for_every_number():
    root = pathlib.Path(climate.__file__).parent
    wrong = {str(path.relative_to(root)) for path in root.rglob('*.py')
             if _WRONG.search(path.read_text(encoding='utf-8'))}
    assert wrong == set()
