# SPDX-License-Identifier: Apache-2.0
"""The time until the console shows the timeline, and how smoothly it moves, in a real Chromium.

``python -m benchmarks.timeline``: a standalone with its console, 128 hosts, and bars over two
years, all of them in sight at 2,560 pixels. Chromium draws without a graphics card, so the time
between frames has a part that a graphics card would do; the time of the painter has not.
"""
import datetime
import pathlib
import statistics
import sys
import tempfile
import time
import urllib.request

from support import browser

from benchmarks import fill
from benchmarks import report
from benchmarks import worlds

BARS = {'short': (1_000,), 'bench': (1_000, 10_000, 100_000), 'long': (1_000, 10_000, 100_000)}
HOSTS = 128
GOAL_FIRST_SECONDS, GOAL_FRAMES, GOAL_PAINTER_MS = 2, 60, 8
_DAYS = 720
_ROUNDS = 5
_FRAMES = 120
# How many days are in sight while the picture moves: all bars are short; they have lines; names.
_SIGHTS = (720, 60, 14)
_MIDDLE_DAYS = 330
_DRAWN = """
    const done = arguments[arguments.length - 1];
    const look = () => {
      if (document.getElementById('timeline')?.dataset.bars) {
        requestAnimationFrame(() => done(performance.now() / 1000));
      } else requestAnimationFrame(look);
    };
    look();"""
# Moves the picture once a frame, to and fro; returns the milliseconds of the painter and those
# between frames.
_MOVED = """
    const [change, count] = arguments;
    const done = arguments[arguments.length - 1];
    const {view} = window.climateTimeline;
    const {painter} = view;
    const painted = [];
    const between = [];
    painter.draw = (scene) => {
      const began = performance.now();
      Object.getPrototypeOf(painter).draw.call(painter, scene);
      painted.push(performance.now() - began);
    };
    let last = null;
    const next = (at) => {
      if (last !== null) between.push(at - last);
      last = at;
      if (between.length === count) {
        delete painter.draw;
        done([painted, between]);
        return;
      }
      const forth = between.length < count / 2;
      if (change === 'pan') view.pan(forth ? 12 : -12);
      else view.zoom(forth ? 1.01 : 1 / 1.01);
      requestAnimationFrame(next);
    };
    requestAnimationFrame(next);"""
_IN_SIGHT = """
    const [start, span] = arguments;
    const done = arguments[arguments.length - 1];
    const {view, source} = window.climateTimeline;
    const {onModel} = source;
    source.onModel = (model) => {
      source.onModel = onModel;
      onModel(model);
      requestAnimationFrame(() => done());
    };
    source.query = null;
    view.lookAt(start, span);"""


def figures(form):
    """Yield the Figures; none where Chromium is not installed."""
    if not pathlib.Path(browser.CHROMIUM).exists():
        return
    for count in BARS[form]:
        with tempfile.TemporaryDirectory() as folder, worlds.emptied('sqlite', 'bars') as database:
            start = filled(database, count)
            url = database.engine.url.render_as_string(hide_password=False)
            with browser.running(pathlib.Path(folder), DATABASE__CONNECTION=url) as \
                    standalone:
                yield from of_route(standalone, count, start)
                with browser.chromium('--window-size=2560,1440') as driver:
                    yield from of_page(browser.Page(driver, standalone), count, start)


def filled(database, count):
    """Write leases of one host each, over two years from now; return the first moment."""
    fill.hosts(database, HOSTS)
    start = datetime.datetime.now(datetime.UTC).replace(microsecond=0) + datetime.timedelta(hours=1)
    each = count // HOSTS + 1
    step = datetime.timedelta(days=_DAYS) / each
    fill.coming_leases(database, [
        (place % HOSTS + 1, start + step * (place // HOSTS),
         start + step * (place // HOSTS) + step * 0.7) for place in range(count)])
    worlds.analyzed(database)
    return start


def window(start):
    return {name: f'{moment:%Y-%m-%dT%H:%M:%SZ}' for name, moment in (
        ('start', start), ('end', start + datetime.timedelta(days=_DAYS)))}


def of_route(standalone, count, start):
    """Yield how long GET /v1/timeline takes, and how large its answer is."""
    span = window(start)
    request = urllib.request.Request(
        f'{standalone.url}/timeline?start={span["start"]}&end={span["end"]}',
        headers={'OpenStack-API-Version': 'reservation 1.1', 'X-Auth-Token': standalone.token})
    taken = []
    for _ in range(_ROUNDS):
        began = time.perf_counter()
        with urllib.request.urlopen(request) as answer:
            size = len(answer.read())
        taken.append((time.perf_counter() - began) * 1000)
    yield report.Figure(18, f'GET /v1/timeline, {count:,} bars', statistics.median(taken), 'ms')
    yield report.Figure(18, f'its answer, {count:,} bars', size / 1024, 'KiB')


def of_page(page, count, start):
    """Yield how soon the first picture is there, and frames a second."""
    page.log_in()
    span = window(start)
    page.driver.set_script_timeout(60)
    first = []
    for _ in range(_ROUNDS):
        page.go('/leases')
        page.go(f'/?from={span["start"]}&to={span["end"]}')
        first.append(page.driver.execute_async_script(_DRAWN))
    yield report.Figure(18, f'first picture, {count:,} bars', statistics.median(first), 's',
                        goal=GOAL_FIRST_SECONDS)
    for days in _SIGHTS if count == max(BARS['bench']) else _SIGHTS[:1]:
        yield from of_moves(page, f'{count:,} bars, {days} days in sight', start, days)


def of_moves(page, what, start, days):
    """Yield how long the painter needs for a frame, and how long frames take."""
    first = start + datetime.timedelta(days=_MIDDLE_DAYS if days < _DAYS else 0)
    page.driver.execute_async_script(_IN_SIGHT, first.timestamp(), days * 86400)
    for change in ('pan', 'zoom'):
        painted, between = page.driver.execute_async_script(_MOVED, change, _FRAMES)
        yield report.Figure(18, f'painter, {change}, {what}', statistics.median(painted), 'ms',
                            goal=GOAL_PAINTER_MS, p99=report.p99(painted), runs=len(painted))
        yield report.Figure(18, f'time between frames, {change}, {what}',
                            statistics.median(between), 'ms', p99=report.p99(between),
                            runs=len(between))
        yield report.Figure(18, f'{change}, {what}', 1000 / statistics.mean(between), 'frames/s',
                            goal=GOAL_FRAMES, more=True)


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())
