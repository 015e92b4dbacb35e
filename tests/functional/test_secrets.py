# SPDX-License-Identifier: Apache-2.0
"""What must stay secret is nowhere: not in a log, however much is logged, and not in a table."""
import logging

import builders
from oslo_messaging import conffixture
import pytest
import sqlalchemy as sa
import webtest

from climate import conf as options
from climate.api import app
from climate.domain import lifecycle
from climate.manager import service
from climate.rpc import client

SECRET = 'the-secret-of-this-token'
# What stands after the roles is not looked at, but is a part of the token that is carried along.
TOKEN = f'{builders.DEMO}:{SECRET}'


@pytest.fixture
def logs(caplog):
    """All that any library logs, on the lowest level."""
    caplog.set_level(logging.DEBUG)
    # Some of them have been silenced by name.
    for name in ('amqp', 'keystoneauth', 'oslo_messaging', 'oslo.messaging', 'sqlalchemy',
                 'sqlalchemy.engine', 'urllib3', 'webob', 'pecan'):
        caplog.set_level(logging.DEBUG, logger=name)
    return caplog


def told(logs):
    """All that was logged, with tracebacks and the arguments of each line."""
    return '\n'.join(f'{record.getMessage()} {record.args!r} {record.exc_text}'
                     for record in logs.records)


def written(database):
    """All that stands in any table."""
    found = sa.MetaData()
    with database.reader() as connection:
        found.reflect(connection)
        return {table.name: [tuple(row) for row in connection.execute(sa.select(table))]
                for table in found.sorted_tables}


def test_the_token_is_in_no_log_and_no_table_after_a_lease_s_whole_life(
        api, manager, database, logs):
    manager.enrol(2)
    lease = api.post('/v1/leases', builders.a_body(), token=TOKEN, version='1.0',
                     headers={'Idempotency-Key': 'a key'}).json['lease']
    api.put(f'/v1/leases/{lease["id"]}', {'end_date': '2030-05-01 14:00'}, token=TOKEN)
    api.get('/v1/leases', token=TOKEN)
    api.post('/v1/leases', {'name': 'x', 'end': 'never'}, token=TOKEN, version='1.1')
    api.post('/v1/os-hosts', {'name': 'compute-3'}, token=TOKEN)
    manager.run_until(builders.NOON + builders.hours(3))
    assert manager.client.get_lease(builders.an_admin(), lease['id']).state == lifecycle.TERMINATED
    api.delete(f'/v1/leases/{lease["id"]}', token=TOKEN)
    tables = written(database)
    assert lease['id'] in repr(tables)
    assert SECRET not in repr(tables)
    assert lease['id'] in told(logs)
    assert SECRET not in told(logs)


def test_the_token_is_in_no_log_of_the_bus(conf, database, logs):
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        manager = service.Manager(conf)
        manager.start()
        try:
            api = webtest.TestApp(app.build(conf, client.ManagerClient(client.Bus(conf))))
            headers = {'X-Auth-Token': TOKEN, 'OpenStack-API-Version': 'reservation 1.1'}
            made = api.post_json('/v1/leases', {'name': 'a', 'duration': '1h', 'reservations': [
                {'resource_type': 'virtual:dummy'}]}, headers=headers)
            assert made.status_int == 201
            api.get('/v1/leases/nope', headers=headers, status=404)
        finally:
            manager.stop()
    assert SECRET not in repr(written(database))
    assert made.json['lease']['id'] in told(logs)
    assert SECRET not in told(logs)


def test_a_failure_that_nobody_meant_does_not_tell_the_token(api, manager, logs):
    def fail(name, when):
        raise RuntimeError('Something nobody meant.')
    manager.enrol(1)
    manager.cloud.faults.on_point = fail
    answer = api.post('/v1/leases', builders.a_body(), token=TOKEN)
    assert answer.status_int == 500
    assert 'Something nobody meant.' in logs.text
    assert SECRET not in logs.text + told(logs) + answer.text


def test_what_is_secret_in_the_configuration_is_masked_when_it_is_logged(conf):
    names = ('password', 'secret', 'transport_url', 'connection')
    found = [opt for _, group in options.list_opts() for opt in group
             if opt.dest in names or (opt.dest.endswith(('_password', '_secret', '_url'))
                                      and opt.dest != 'auth_url')]
    assert {'password', 'notification_transport_url'} <= {opt.dest for opt in found}
    assert [opt.dest for opt in found if not opt.secret] == []
    # The group of oslo.db, which carries the password in its URL.
    assert conf._get_opt_info('connection', 'database')['opt'].secret
