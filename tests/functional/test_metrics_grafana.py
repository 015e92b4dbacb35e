# SPDX-License-Identifier: Apache-2.0
"""Each query of the Grafana dashboards returns data of a real manager from a real Prometheus."""
import contextlib
import itertools
import json
import pathlib
import re
import time
import uuid

from functional.manager import daemons
import pytest
from support import builders
from support import prometheus_server
from support import waiting

from climate import errors
from climate.domain import lifecycle
from climate.manager import endpoint
from climate.manager.idle import sampler
from climate.rpc import client

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / 'etc/climate/grafana'
# What Grafana puts in, and a step at which a young Prometheus has samples.
VARIABLES = {'$project': '.*', '$pool': '.*', '$__range:1m': '1m:1s'}


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


@contextlib.contextmanager
def a_manager(conf, database):
    """A whole manager with its port for Prometheus, and a lease, a refusal and a host at rest."""
    conf.set_override('sample_minutes', 0, group='idle')
    conf.set_override('host', 'mail.invalid', group='mail')
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


@pytest.mark.proof
@pytest.mark.skipif(prometheus_server.PROGRAM is None, reason='Prometheus is not installed.')
def test_the_dashboards_show_what_a_manager_has(conf, database, tmp_path):
    (tmp_path / 'prometheus').mkdir()
    with a_manager(conf, database) as manager, prometheus_server.running(
            tmp_path / 'prometheus', manager.core.conf.manager.metrics_port) as prometheus:
        waiting.until(lambda: prometheus.query('climate_audit_drift'))
        # The sums over time need some samples.
        waiting.until(lambda: len(prometheus.query('climate_leases[1m]')[0]['values']) > 2)
        _each_query_returns_data(prometheus)
        _the_variables_have_values(prometheus)
        _the_figures_are_those_of_the_lease(prometheus)


def _each_query_returns_data(prometheus):
    asked = list(queries())
    assert len(asked) > 40
    assert [left for _, text in asked for left in re.findall(r'\$\w+', text)] == []
    for title, text in asked:
        found = prometheus.query(text)
        assert found, f'{title}: {text} returns nothing.'
        assert all(each['value'][1] != 'NaN' for each in found), (title, found)
        ranged = prometheus.ask('query_range', query=text, start=time.time() - 60,
                                end=time.time(), step=5)
        assert ranged['result'], f'{title}: {text} returns nothing over time.'


def _the_variables_have_values(prometheus):
    listed = itertools.chain(*(each['templating']['list'] for each in dashboards()))
    metrics = {each['name']: re.fullmatch(r'label_values\((\w+), (\w+)\)', each['query'])
               for each in listed if each['type'] == 'query'}
    assert {'pool', 'project'} == set(metrics)
    values = {name: {each[found[2]] for each in prometheus.ask('series', **{'match[]': found[1]})}
              for name, found in metrics.items()}
    assert 'host' in values['pool']
    assert values['project'] == {'demo'}


def _the_figures_are_those_of_the_lease(prometheus):
    def value(text):
        [found] = prometheus.query(text)
        return float(found['value'][1])
    mine = '{project_id="demo", pool="host", resource_type="physical:host"}'
    assert value(f'climate_allocated_resources{mine}') == 1
    assert value(f'climate_occupied_resources{mine}') == 1
    assert value(f'climate_idle_resources{mine}') == 1
    # Five were refused; the pool has two.
    assert value('climate_refused_resources{project_id="demo", reason="no_match"}') == 2
    assert value('climate_pool_capacity_resources{pool="host"}') == 2
    assert value('climate_pool_out_of_order_resources{pool="host"}') == 1


def test_the_dashboards_show_each_metric_of_the_page():
    page = (ROOT / 'doc/source/admin/monitoring.rst').read_text()
    table = page[page.index('* - Metric'):page.index('Every manager reports the same usage')]
    named = set(re.findall(r'climate_[a-z_]+[a-z]', table))
    shown = ' '.join(text for _, text in queries())
    assert len(named) > 25
    assert [each for each in sorted(named) if each not in shown] == []
