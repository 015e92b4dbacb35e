# SPDX-License-Identifier: Apache-2.0
"""The time until the console shows the timeline, and how smoothly it moves, in a real Chromium.

``python -m benchmarks.timeline``: a standalone with its console, 128 hosts, and bars over two
years, all of them in sight. Chromium draws without a graphics card.
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

BARS = {'short': (1_000,), 'bench': (1_000, 10_000, 50_000), 'long': (1_000, 10_000, 50_000)}
HOSTS = 128
GOAL_FIRST_SECONDS, GOAL_FRAMES = 2, 30
_DAYS = 720
_ROUNDS = 5
_FRAMES = 90
_DRAWN = """
    const done = arguments[arguments.length - 1];
    const look = () => {
      if (document.getElementById('timeline')?.dataset.bars) {
        requestAnimationFrame(() => done(performance.now() / 1000));
      } else requestAnimationFrame(look);
    };
    look();"""
# Moves the picture once a frame; returns frames a second.
_MOVED = """
    const [change, count] = arguments;
    const done = arguments[arguments.length - 1];
    const {view} = window.climateTimeline;
    let frames = 0;
    const began = performance.now();
    const next = () => {
      frames += 1;
      if (frames === count) done(1000 * frames / (performance.now() - began));
      else {
        if (change === 'pan') view.pan(frames % 2 ? 12 : 8);
        else view.zoom(frames < count / 2 ? 1.03 : 1 / 1.03);
        requestAnimationFrame(next);
      }
    };
    requestAnimationFrame(next);"""


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
                with browser.chromium('--window-size=1400,900') as driver:
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
    for change in ('pan', 'zoom'):
        rate = page.driver.execute_async_script(_MOVED, change, _FRAMES)
        yield report.Figure(18, f'{change}, {count:,} bars', rate, 'frames/s', goal=GOAL_FRAMES,
                            more=True)


def main(arguments=None):
    return report.main(figures, arguments)


if __name__ == '__main__':
    sys.exit(main())
