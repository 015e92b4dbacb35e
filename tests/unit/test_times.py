# SPDX-License-Identifier: Apache-2.0
"""The table of test times adds up, and a file that is none is refused with the way out."""
import pytest

from tools import test_times

_JUNIT = """<testsuites><testsuite>
<testcase classname="tests.unit.test_a" name="test_one[x]" time="0.250"/>
<testcase classname="tests.unit.test_a.TestClass" name="test_two" time="1.500"/>
<testcase classname="tests.functional.api.test_b" name="test_three" time="4.0"><skipped/></testcase>
<testcase classname="tests.functional.api.test_gone" name="test_four" time="0"/>
</testsuite></testsuites>"""


@pytest.fixture
def junit(tmp_path):
    """The junit file of a run in this folder, of two files that exist and one that does not."""
    for name, lines in (('tests/unit/test_a.py', 3), ('tests/functional/api/test_b.py', 5)):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text('pass\n' * lines)
    path = tmp_path / 'tests.xml'
    path.write_text(_JUNIT)
    return path


def test_the_table_has_the_sums_of_each_directory_and_the_slowest_tests(junit, capsys):
    assert test_times.main([str(junit), '--root', str(junit.parent), '--slowest', '2']) == 0
    assert capsys.readouterr().out.splitlines() == [
        ' tests   lines  seconds  directory',
        '     2       5      4.0  tests/functional/api',
        '     2       3      1.8  tests/unit',
        '     4       8      5.8  all',
        '',
        '    4.00  tests/functional/api/test_b.py::test_three',
        '    1.50  tests/unit/test_a.py::test_two']


@pytest.mark.parametrize('content', [None, '', '<a>', 'not xml'])
def test_a_file_that_is_not_junit_is_refused_with_the_way_to_write_one(tmp_path, capsys, content):
    path = tmp_path / 'tests.xml'
    if content is not None:
        path.write_text(content)
    with pytest.raises(SystemExit) as caught:
        test_times.main([str(path)])
    assert caught.value.code == 2
    assert '--junitxml=FILE.xml' in capsys.readouterr().err
