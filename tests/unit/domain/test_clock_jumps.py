# SPDX-License-Identifier: Apache-2.0
"""The trust in the database's clock: when it is lost, and when it returns."""
import datetime

import pytest

from climate.domain import clock_jumps

NOON = datetime.datetime(2030, 5, 1, 12, 0, tzinfo=datetime.UTC)
LIMIT = 60


def judged(*looks, confirmed=False):
    """The Judgement after looks, each (monotonic, database, machine) in seconds."""
    found = clock_jumps.Judgement()
    for monotonic, database, machine in looks[:-1]:
        found = clock_jumps.judge(found, _look(monotonic, database, machine), LIMIT)
    return clock_jumps.judge(found, _look(*looks[-1]), LIMIT, confirmed)


def _look(monotonic, database, machine):
    return clock_jumps.ClockReading(NOON + datetime.timedelta(seconds=database),
                                    NOON + datetime.timedelta(seconds=machine), monotonic)


@pytest.mark.parametrize('looks', [
    pytest.param([(0, 0, 0)], id='the first look, at a clock that agrees'),
    pytest.param([(0, 0, 50)], id='the first look, at a clock that agrees nearly'),
    pytest.param([(0, 0, 0), (5, 5, 5)], id='time goes on'),
    pytest.param([(0, 0, 0), (7200, 7200, 7200)], id='a tick that took two hours'),
    pytest.param([(0, 0, 0), (1, 0, 1)], id='a leap second'),
    pytest.param([(0, 0, 0)] + [(n * 5, n * 5.0025, n * 5) for n in range(1, 20000)],
                 id='a clock that NTP slews by 500 ppm for a day'),
    pytest.param([(0, 0, 0), (5, 55, 5)], id='a small step'),
    pytest.param([(0, 0, 0), (5, 5, 7205)], id='a jump of the machine only'),
    pytest.param([(0, 0, 0), (5, 7205, 5), (10, 10, 10)], id='it jumps, and comes back'),
    pytest.param([(0, 0, 0), (5, 7205, 5), (10, 7210, 10), (300, 300, 300)], id='after a while'),
    pytest.param([(0, 0, 0), (5, 7205, 7205), (65, 7265, 7265)],
                 id='the machine was suspended: its clock agrees at a second look'),
    pytest.param([(0, 0, 0), (5, 7205, 5), (70, 7270, 7270)],
                 id='the machine was suspended: its clock was corrected later'),
    pytest.param([(0, 7200, 0), (5, 7205, 7205)], id='after a start: the machine is corrected'),
    pytest.param([(0, 7200, 0), (5, 5, 5)], id='after a start: the database is corrected'),
    pytest.param([(0, 0, 0), (5, -3595, 5), (10, 10, 10)], id='behind, and comes back'),
])
def test_the_clock_is_trusted(looks):
    found = judged(*looks)
    assert found.doubted is None
    assert (found.is_ahead, found.ahead_seconds) == (False, 0)


@pytest.mark.parametrize(('looks', 'ahead'), [
    pytest.param([(0, 7200, 0)], 7200, id='the first look: ahead of the machine'),
    pytest.param([(0, 7200, 0), (600, 7800, 600)], 7200, id='and at a second look'),
    pytest.param([(0, 0, 0), (5, 66, 5)], 61, id='a jump by just more'),
    pytest.param([(0, 0, 0), (5, 7205, 5), (600, 7800, 600)], 7200,
                 id='the machine never agrees'),
    pytest.param([(0, 0, 0), (5, 7205, 7205), (60, 7260, 7260)], 7200,
                 id='it agrees, but the second look comes too early'),
    pytest.param([(0, 0, 0), (5, 7205, 7205), (60, 9260, 9260), (70, 9270, 9270)], 9200,
                 id='it jumps again, so the wait begins again'),
    pytest.param([(0, 0, 0), (5, 7205, 5), (10, -90, 10), (15, 7215, 15)], 7200,
                 id='it jumps to and fro'),
])
def test_the_clock_is_ahead(looks, ahead):
    found = judged(*looks)
    assert found.is_ahead
    assert found.ahead_seconds == ahead


@pytest.mark.parametrize('looks', [
    pytest.param([(0, -7200, 0)], id='the first look'),
    pytest.param([(0, 0, 0), (5, -7195, 5)], id='it went back'),
    pytest.param([(0, 0, 0), (7200, 5, 7200)], id='it stood, as its machine was suspended'),
])
def test_the_clock_is_behind(looks):
    found = judged(*looks)
    assert found.doubted is not None
    assert not found.is_ahead
    assert found.ahead_seconds < -LIMIT


@pytest.mark.parametrize('looks', [
    [(0, 7200, 0)], [(0, 0, 0), (5, 7205, 5)], [(0, 0, 0), (5, -7195, 5)]])
def test_the_clock_is_trusted_once_it_is_confirmed(looks):
    assert judged(*looks, confirmed=True) == clock_jumps.Judgement(believed=_look(*looks[-1]))
