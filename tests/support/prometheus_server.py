# SPDX-License-Identifier: Apache-2.0
"""A real Prometheus that reads managers, with short intervals."""
import contextlib
import json
import shutil
import subprocess
import urllib.parse
import urllib.request

from support import builders
from support import waiting

#: The program, or None if it is not installed.
PROGRAM = shutil.which('prometheus')
#: The blackbox exporter, or None if it is not installed.
EXPORTER = shutil.which('prometheus-blackbox-exporter')


class Prometheus:
    """The API of a Prometheus on loopback."""

    def __init__(self, port):
        self._port = port

    def ask(self, path, **parameters):
        """Return the data of an answer of the API; `path` is the end of its URL."""
        query = urllib.parse.urlencode(parameters, doseq=True)
        with urllib.request.urlopen(f'http://127.0.0.1:{self._port}/api/v1/{path}?{query}',
                                    timeout=30) as answer:
            return json.load(answer)['data']

    def query(self, text):
        """Return the series that an expression gives now."""
        return self.ask('query', query=text)['result']

    def firing(self):
        """Return the names of the alerts that fire."""
        return {alert['labels']['alertname'] for alert in self.ask('alerts')['alerts']
                if alert['state'] == 'firing'}


@contextlib.contextmanager
def running(folder, metrics_port, rules=None, more_jobs=()):
    """Run a Prometheus that reads the manager at that port; yield it after the first read.

    :param folder: the path of an empty folder for its files.
    :param rules: the text of a file of rules, or None.
    :param more_jobs: other items of ``scrape_configs``.
    """
    port = builders.a_free_port()
    (folder / 'prometheus.yml').write_text(json.dumps({
        'global': {'scrape_interval': '500ms', 'scrape_timeout': '500ms',
                   'evaluation_interval': '500ms'},
        'rule_files': [] if rules is None else ['rules.yml'],
        'scrape_configs': [{'job_name': 'climate', 'static_configs': [
            {'targets': [f'127.0.0.1:{metrics_port}']}]}, *more_jobs]}))
    if rules is not None:
        (folder / 'rules.yml').write_text(rules)
    with open(folder / 'log', 'wb') as log, subprocess.Popen(
            [PROGRAM, f'--config.file={folder}/prometheus.yml',
             f'--storage.tsdb.path={folder}/data', f'--web.listen-address=127.0.0.1:{port}'],
            stdout=log, stderr=log) as process:
        found = Prometheus(port)

        def has_read():
            assert process.poll() is None, (folder / 'log').read_text()
            try:
                return found.query('climate_build_info')
            except OSError:
                return False
        try:
            waiting.until(has_read)
            yield found
        finally:
            process.terminate()


@contextlib.contextmanager
def exporting(folder):
    """Run a blackbox exporter with its default modules; yield its port.

    :param folder: the path of an empty folder for its log.
    """
    port = builders.a_free_port()
    (folder / 'blackbox.yml').write_text(json.dumps({'modules': {'http_2xx': {'prober': 'http'}}}))
    with open(folder / 'log', 'wb') as log, subprocess.Popen(
            # The default offset is as long as the interval of the Prometheus above.
            [EXPORTER, f'--config.file={folder}/blackbox.yml', '--timeout-offset=0.1',
             f'--web.listen-address=127.0.0.1:{port}'], stdout=log, stderr=log) as process:
        try:
            yield port
        finally:
            process.terminate()
