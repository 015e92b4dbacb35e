# SPDX-License-Identifier: Apache-2.0
"""Each query of the Grafana dashboard returns data of a real manager from a real Prometheus."""
import itertools
import json
import pathlib
import re
import shutil
import subprocess
import time
import urllib.parse
import urllib.request
import uuid

from functional.manager import daemons
import pytest
from support import builders
from support import waiting

from climate import errors
from climate.domain import lifecycle
from climate.manager import endpoint
from climate.manager.idle import sampler
from climate.rpc import client

PROMETHEUS = shutil.which('prometheus')
FOLDER = pathlib.Path(__file__).resolve().parents[2] / 'etc/climate/grafana'
# What Grafana puts in, and a step at which a young Prometheus has samples.
VARIABLES = {'$project': '.*', '$pool': '.*', '$__range:1m': '1m:1s'}

pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason='Prometheus is not installed.')


def dashboards():
    return [json.loads(path.read_text()) for path in sorted(FOLDER.glob('*.json'))]


def queries():
    """(title of the panel, PromQL) of each query, with the variables that Grafana puts in."""
    for dashboard in dashboards():
        for panel in dashboard['panels']:
            for target in panel['targets']:
                text = target['expr']
                for name, value in VARIABLES.items():
                    text = text.replace(name, value)
                yield panel['title'], text


@pytest.fixture
def manager(conf, database):
    """A whole manager with its port for Prometheus, and a lease, a refusal and a host at rest."""
    conf.set_override('sample_minutes', 0, group='idle')
    with daemons.running(conf, database, metrics_port=builders.a_free_port(),
                         metrics_host='127.0.0.1', audit_interval_seconds=1) as found:
        asked = client.ManagerClient(builders.Wire(endpoint.InProcess(found.endpoint)))
        hosts = [asked.create_resource(builders.an_admin(), 'host', f'compute-{number}', {})
                 for number in (1, 2)]
        asked.update_resource(builders.an_admin(), 'host', hosts[1].id, {}, reservable=False)
        now = found.core.clock()
        lease = asked.create_lease(builders.a_member(), str(uuid.uuid4()), builders.a_lease(
            end=now + builders.hours(2)))
        with pytest.raises(errors.NotEnough):
            asked.create_lease(builders.a_member(), str(uuid.uuid4()), builders.a_lease(
                builders.hosts(5), end=now + builders.hours(2)))
        waiting.until(lambda: asked.get_lease(
            builders.a_member(), lease.id).state == lifecycle.ACTIVE)
        conf.set_override('sample_minutes', 1, group='idle')
        assert sampler.Sampler(found.core, found.owner).step(found.core.clock()) == 1
        yield found


@pytest.fixture
def ask(manager, tmp_path):
    """callable(path, parameters): the data that a Prometheus answers which reads that manager."""
    port = builders.a_free_port()
    (tmp_path / 'prometheus.yml').write_text(json.dumps({
        'global': {'scrape_interval': '1s', 'scrape_timeout': '1s'},
        'scrape_configs': [{'job_name': 'climate', 'static_configs': [
            {'targets': [f'127.0.0.1:{manager.core.conf.manager.metrics_port}']}]}]}))
    with open(tmp_path / 'log', 'wb') as log, subprocess.Popen(
            [PROMETHEUS, f'--config.file={tmp_path}/prometheus.yml',
             f'--storage.tsdb.path={tmp_path}/data', f'--web.listen-address=127.0.0.1:{port}'],
            stdout=log, stderr=log) as running:
        def asked(path, **parameters):
            query = urllib.parse.urlencode(parameters, doseq=True)
            with urllib.request.urlopen(f'http://127.0.0.1:{port}/api/v1/{path}?{query}',
                                        timeout=30) as answer:
                return json.load(answer)['data']

        def serves():
            assert running.poll() is None, (tmp_path / 'log').read_text()
            try:
                return asked('query', query='climate_audit_drift')['result']
            except OSError:
                return False
        try:
            waiting.until(serves)
            yield asked
        finally:
            running.terminate()


def test_each_query_of_the_dashboard_returns_data(ask):
    asked = list(queries())
    assert len(asked) > 15
    assert [left for _, text in asked for left in re.findall(r'\$\w+', text)] == []
    # The sums over time need some samples.
    waiting.until(lambda: len(ask('query', query='climate_leases[1m]')['result'][0]['values']) > 2)
    for title, text in asked:
        found = ask('query', query=text)['result']
        assert found, f'{title}: {text} returns nothing.'
        assert all(each['value'][1] != 'NaN' for each in found), (title, found)
        ranged = ask('query_range', query=text, start=time.time() - 60, end=time.time(), step=5)
        assert ranged['result'], f'{title}: {text} returns nothing over time.'


def test_the_variables_of_the_dashboard_have_values(ask):
    listed = itertools.chain(*(each['templating']['list'] for each in dashboards()))
    metrics = {each['name']: re.fullmatch(r'label_values\((\w+), (\w+)\)', each['query'])
               for each in listed if each['type'] == 'query'}
    assert {'pool', 'project'} == set(metrics)
    values = {name: {each[found[2]] for each in ask('series', **{'match[]': found[1]})}
              for name, found in metrics.items()}
    assert 'host' in values['pool']
    assert values['project'] == {'demo'}


def test_the_figures_are_those_of_the_lease(ask):
    def value(text):
        [found] = ask('query', query=text)['result']
        return float(found['value'][1])
    mine = '{project_id="demo", pool="host", resource_type="physical:host"}'
    assert value(f'climate_allocated_resources{mine}') == 1
    assert value(f'climate_occupied_resources{mine}') == 1
    assert value(f'climate_idle_resources{mine}') == 1
    assert value('climate_refused_resources{project_id="demo", reason="no_match"}') == 5
    assert value('climate_pool_capacity_resources{pool="host"}') == 2
    assert value('climate_pool_out_of_order_resources{pool="host"}') == 1
