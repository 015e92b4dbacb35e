# SPDX-License-Identifier: Apache-2.0
"""A Prometheus that has the metrics of a past day, as if it had collected them then."""
import contextlib
import urllib.error
import urllib.request

from prometheus_client import parser

from tools.cloudkitty import programs

# What is kept must be longer than the day is past.
_KEPT = '400d'


def openmetrics(pages, names):
    """Return the samples of some metrics in the format that promtool imports.

    :param pages: pairs (moment, the text of /metrics at that moment), in order of time.
    :param names: the names of the gauges to keep.
    """
    samples = {name: [] for name in names}
    for moment, text in pages:
        for family in parser.text_string_to_metric_families(text):
            for each in family.samples if family.name in samples else ():
                labels = ','.join(f'{key}="{value}"' for key, value in sorted(each.labels.items()))
                samples[family.name].append(
                    f'{each.name}{{{labels}}} {each.value} {moment.timestamp():.0f}')
    return '\n'.join([line for name in names
                      for line in (f'# TYPE {name} gauge', *samples[name])] + ['# EOF', ''])


@contextlib.contextmanager
def serving(folder, metrics):
    """Run a Prometheus in the block; yield its URL.

    :param metrics: the text of `openmetrics`.
    """
    (folder / 'day.om').write_text(metrics)
    programs.done(folder, 'promtool', [
        'promtool', 'tsdb', 'create-blocks-from', 'openmetrics', folder / 'day.om',
        folder / 'prometheus'])
    (folder / 'prometheus.yml').write_text('global: {}\n')
    url = f'http://127.0.0.1:{programs.free_port()}'
    with programs.running(folder, 'prometheus', [
            'prometheus', f'--config.file={folder}/prometheus.yml',
            f'--storage.tsdb.path={folder}/prometheus', f'--storage.tsdb.retention.time={_KEPT}',
            f'--web.listen-address={url.removeprefix("http://")}']) as wait:
        wait(lambda: _is_ready(url))
        yield url


def _is_ready(url):
    try:
        with urllib.request.urlopen(f'{url}/-/ready', timeout=5) as answer:
            return answer.status == 200
    except (urllib.error.URLError, ConnectionError):
        return False
