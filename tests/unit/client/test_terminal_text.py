# SPDX-License-Identifier: Apache-2.0
"""Terminals of any encoding get every text; what they lack is printed in ASCII."""
import io
import subprocess
import sys

import pytest
from support import thinning
from unit.client import canned

from climate.client import terminal_text


def printed(text, encoding):
    stream = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    terminal_text.prepare(stream)
    stream.write(text)
    stream.flush()
    return stream.buffer.getvalue().decode(encoding)


@pytest.mark.parametrize('encoding', ['ascii', 'latin-1', 'cp1252'])
def test_a_chart_is_drawn_in_ascii_where_blocks_are_missing(encoding):
    assert printed('\u2581\u2583 \u2588 \u2192', encoding) == '_- # ->'


def test_a_terminal_in_utf_8_gets_all_letters():
    assert printed('\u2581\u2588 \u6771\u4eac', 'utf-8') == '\u2581\u2588 \u6771\u4eac'


def test_letters_that_an_encoding_lacks_are_escaped():
    assert printed('Z\u00fcrich \u6771', 'latin-1') == 'Z\u00fcrich \\u6771'
    # An argument that is not in the encoding of the terminal.
    assert printed('\udcc3', 'utf-8') == '\\udcc3'


def test_the_handler_passes_on_errors_of_decoding():
    error = UnicodeDecodeError('ascii', b'\xc3', 0, 1, 'ordinal not in range')
    with pytest.raises(UnicodeDecodeError):
        terminal_text._plain(error)


def climate(*words, **environ):
    return subprocess.run(
        [sys.executable, '-m', 'climate.client.shell', *words], capture_output=True, check=False,
        env={'OS_AUTH_TYPE': 'admin_token', 'OS_ENDPOINT': 'http://127.0.0.1:9', 'OS_TOKEN': 't',
             'PYTHONPATH': ':'.join(filter(None, sys.path)), **environ})


@pytest.mark.parametrize('environ', thinning.few([
    {'LC_ALL': 'C', 'PYTHONCOERCECLOCALE': '0', 'PYTHONUTF8': '0'}, {'LC_ALL': 'C'},
    {'PYTHONIOENCODING': 'ascii'}, {'PYTHONIOENCODING': 'latin-1'}], 2))
def test_a_name_in_any_alphabet_is_understood_in_any_locale(environ):
    done = climate('lease', 'show', 'Z\u00fcrich \u6771\u4eac', **environ)
    assert done.returncode == 1
    # The name was sent: only the service is missing.
    assert done.stderr.startswith(b'No answer: '), done.stderr
    assert b'Traceback' not in done.stderr


def test_an_argument_that_is_no_text_is_refused():
    done = climate('lease', 'show', b'\xff\xfe', LC_ALL='C.UTF-8')
    assert done.returncode == 2
    assert done.stderr.splitlines() == [
        b"The argument '\\udcff\\udcfe' is not text in UTF-8.",
        b'Hint: Set the encoding of your terminal, for example with LC_ALL=C.UTF-8.']


def test_a_service_that_sends_blocks_is_printed_to_a_pipe_in_ascii(run, requests_mock):
    requests_mock.get(f'{canned.URL}/leases', json={'leases': [canned.a_lease(name='\u2581')]})
    assert '\u2581' in run('lease', 'list').out
