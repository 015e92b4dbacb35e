# SPDX-License-Identifier: Apache-2.0
"""Secrets are in no log, at any log level, and in no table."""
import base64
import functools
import http.server
import logging
import threading
import traceback

import bcrypt
from keystoneauth1 import fixture
from oslo_messaging import conffixture
import pytest
import sqlalchemy as sa
from support import builders
import webtest

from climate import conf as options
from climate import errors
from climate.api import app
from climate.db import engine
from climate.domain import lifecycle
from climate.enforcement import base as enforcement_base
from climate.enforcement import http as enforcement_http
from climate.manager import service
from climate.manager.leases import target_watch
from climate.manager.notifications import encryption
from climate.notifiers import base as notifier_base
from climate.notifiers import mail
from climate.plugins.health import http as health_http
from climate.plugins.health import sources as health_sources
from climate.rpc import bus
from climate.rpc import client

SECRET = 'the-secret-of-this-token'
# The part after the roles is not read, but belongs to the token.
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


@pytest.mark.proof
def test_the_token_is_in_no_log_and_no_table_after_a_lease_s_whole_life(
        api, manager, database, logs):
    manager.enrol(2)
    lease = api.post('/v1/leases', builders.a_body(), token=TOKEN, version='1.0',
                     headers={'Idempotency-Key': 'a key'}).json['lease']
    api.put(f'/v1/leases/{lease["id"]}', {'end_date': '2030-05-01 14:00'}, token=TOKEN)
    api.get('/v1/leases', token=TOKEN)
    api.post('/v1/leases', {'name': 'x', 'end': 'never'}, token=TOKEN, version='1.1')
    api.post('/v1/os-hosts', {'name': 'compute-3'}, token=TOKEN)
    manager.run_until(builders.at(3))
    assert manager.client.get_lease(builders.an_admin(), lease['id']).state == lifecycle.TERMINATED
    api.delete(f'/v1/leases/{lease["id"]}', token=TOKEN)
    tables = written(database)
    assert lease['id'] in repr(tables)
    assert SECRET not in repr(tables)
    assert lease['id'] in told(logs)
    assert SECRET not in told(logs)


@pytest.mark.proof
def test_the_token_is_in_no_log_of_the_bus(conf, database, logs):
    url = database.engine.url.render_as_string(hide_password=False)
    conf.set_override('connection', url, group='database')
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        manager = service.Manager(conf)
        manager.start()
        try:
            api = webtest.TestApp(app.build(conf, client.ManagerClient(bus.Bus(conf))))
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


@pytest.mark.usefixtures('each_lease_has_a_trust')
def test_a_failure_that_nobody_meant_does_not_tell_the_token(api, manager, logs):
    def fail(name, when):
        raise RuntimeError('Something nobody meant.')
    manager.enrol(1)
    manager.cloud.faults.on_point = fail
    answer = api.post('/v1/leases', builders.a_body(), token=TOKEN)
    assert answer.status_int == 500
    assert 'Something nobody meant.' in logs.text
    assert SECRET not in logs.text + told(logs) + answer.text


@pytest.fixture
def keystone(requests_mock):
    """A Keystone that knows TOKEN once; gives the options of the API's own login there."""
    url, password = 'http://keystone.example/v3', f'password-{SECRET}'
    own, callers = fixture.V3Token(), fixture.V3Token(user_id='u', project_id='p')
    own.add_service('identity').add_standard_endpoints(public=url, internal=url, admin=url)
    callers.add_role('member')
    requests_mock.get(url, json={'version': fixture.V3Discovery(url)})
    requests_mock.get('http://keystone.example/', json=fixture.DiscoveryList(
        'http://keystone.example', v2=False), status_code=300)
    requests_mock.post(f'{url}/auth/tokens', json=own,
                       headers={'X-Subject-Token': f'service-{SECRET}'})
    requests_mock.get(f'{url}/auth/tokens', [
        {'json': callers, 'headers': {'X-Subject-Token': TOKEN}}, {'status_code': 404}])
    return {'auth_type': 'password', 'auth_url': url, 'username': 'climate',
            'password': password, 'user_domain_name': 'Default', 'project_name': 'service',
            'project_domain_name': 'Default', 'www_authenticate_uri': url}


def test_a_token_sent_to_keystone_is_in_no_log(keystone, manager, tmp_path, logs):
    path = tmp_path / 'climate.conf'
    path.write_text('[keystone_authtoken]\n' + ''.join(
        f'{name} = {value}\n' for name, value in keystone.items()))
    conf = manager.core.conf
    conf(['--config-file', str(path)], project='climate')
    conf.set_override('auth_strategy', 'keystone', group='api')
    api = webtest.TestApp(app.build(conf, manager.client, builders.manager_plugins(conf)))
    statuses = [api.get('/v1/leases', headers={'X-Auth-Token': token}, status='*').status_int
                for token in (TOKEN, f'unknown-{SECRET}')]
    assert statuses == [200, 401]
    assert 'auth/tokens' in told(logs)
    assert SECRET not in told(logs)


def test_a_password_of_http_basic_is_in_no_log(conf, manager, tmp_path, logs):
    hashed = bcrypt.hashpw(SECRET.encode(), bcrypt.gensalt(4)).decode()
    (tmp_path / 'htpasswd').write_text(f'ann:{hashed}\n')
    conf.set_override('auth_strategy', 'http_basic', group='api')
    conf.set_override('http_basic_file', str(tmp_path / 'htpasswd'), group='api')
    api = webtest.TestApp(app.build(conf, manager.client, builders.manager_plugins(conf)))
    for password, status in ((SECRET, 200), (f'not {SECRET}', 401)):
        sent = base64.b64encode(f'ann:{password}'.encode()).decode()
        api.get('/v1/leases', headers={'Authorization': f'Basic {sent}'}, status=status)
        assert sent not in told(logs)
    assert SECRET not in told(logs)


@pytest.mark.parametrize('driver', ['postgresql+psycopg2', 'mysql+pymysql'])
def test_the_password_of_a_database_that_is_gone_is_not_told(driver, logs):
    with pytest.raises(errors.DatabaseUnreachable) as raised:
        engine.Database(f'{driver}://climate:{SECRET}@127.0.0.1:1/climate', max_retries=1,
                        retry_interval=0)
    assert SECRET not in f'{raised.value} {raised.value.__cause__} {told(logs)}'


@pytest.mark.proof
def test_the_password_of_a_broker_that_is_gone_is_not_told(conf, logs):
    with conffixture.ConfFixture(conf, transport_url=f'rabbit://climate:{SECRET}@127.0.0.1:1/'):
        api = webtest.TestApp(app.build(conf, client.ManagerClient(bus.Bus(conf))))
        answer = api.get('/v1/leases', headers={'X-Auth-Token': builders.DEMO}, status='*')
    assert answer.status_int >= 503
    assert '127.0.0.1' in told(logs)
    assert SECRET not in answer.text + told(logs)


class _Answers(http.server.BaseHTTPRequestHandler):
    """A monitoring system that answers each request in another bad way."""

    bad = [(404, {}, b''), (200, {}, b'no JSON'), (200, {}, b'[]'), (200, {}, b'x' * 2 ** 24),
           (302, {'Location': f'http://{SECRET}:{SECRET}@127.0.0.1:1/{SECRET}'}, b'')]

    def do_GET(self):
        status, headers, body = self.bad[self.server.asked]
        self.server.asked += 1
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *arguments):
        """Write nothing."""


def _ask_for_health(conf):
    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), _Answers)
    server.asked = 0
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        source = health_http.Http(conf)
        for port in (*[server.server_port] * len(_Answers.bad), 1):
            conf.set_override(
                'http_url', f'http://climate:{SECRET}@127.0.0.1:{port}/{SECRET}?token={SECRET}',
                group='health')
            with pytest.raises(health_sources.SourceUnreachable) as raised:
                source.sick(())
            logging.getLogger('climate').warning('It failed', exc_info=raised.value)
        assert server.asked == len(_Answers.bad)
        conf.set_override('http_url', f'ftp://{SECRET}', group='health')
        with pytest.raises(health_sources.SourceUnreachable) as raised:
            source.sick(())
    finally:
        server.shutdown()
        server.server_close()
    raise raised.value


def _send_mail(conf):
    conf.set_override('host', '127.0.0.1', group='mail')
    conf.set_override('port', 1, group='mail')
    conf.set_override('username', 'climate', group='mail')
    conf.set_override('password', SECRET, group='mail')
    with mail.Mail(conf).session() as send:
        send(notifier_base.Message('1', 'a@example.org', None, {}))


def _encrypt(conf):
    conf.set_override('encryption_keys', [SECRET], group='notifications')
    encryption.KeyEncryption(conf)


def _listen_to_nova(conf):
    conf.set_override('notifications', True, group='nova')
    conf.set_override('notification_transport_url', f'rabbit://a:{SECRET}@127.0.0.1:port/',
                      group='nova')
    target_watch.listen(conf, None, None)


def _ask_enforcement(conf, option):
    conf.set_override('dialect', 'coral', group='enforcement')
    conf.set_override('url', 'http://127.0.0.1:1/consumer', group='enforcement')
    conf.set_override(option, SECRET if option == 'token' else (
        f'http://climate:{SECRET}@127.0.0.1:1/{SECRET}?token={SECRET}'), group='enforcement')
    driver = enforcement_http.HttpEnforcement(conf, None)
    assert SECRET not in driver.reach()
    call = enforcement_base.Call('1', enforcement_base.CREATE, {
        'context': {}, 'lease': {'reservations': []}})
    for use in (driver.ask, driver.commit, driver.end):
        with pytest.raises(errors.EnforcementUnavailable) as raised:
            use(call)
        logging.getLogger('climate').warning('It failed', exc_info=raised.value)
    raise raised.value


#: What uses each secret option in a way that fails.
OPTIONS = {**{('enforcement', option): functools.partial(_ask_enforcement, option=option)
              for option in ('url', 'check_create_url', 'create_url', 'check_update_url',
                             'update_url', 'on_end_url', 'token')},
           ('health', 'http_url'): _ask_for_health, ('mail', 'password'): _send_mail,
           ('notifications', 'encryption_keys'): _encrypt,
           ('nova', 'notification_transport_url'): _listen_to_nova}


@pytest.mark.parametrize('use', OPTIONS.values(), ids=map('.'.join, OPTIONS))
def test_a_secret_option_is_in_no_log_and_no_error(conf, logs, use):
    with pytest.raises(Exception) as raised:
        use(conf)
    logging.getLogger('climate').warning('It failed', exc_info=raised.value)
    shown = ''.join(traceback.format_exception(raised.value))
    assert SECRET not in shown + told(logs) + logs.text


def test_each_secret_option_has_a_case():
    # The logins of services are options of keystoneauth: see `keystone`.
    assert set(OPTIONS) == {
        (group.name, opt.dest) for group, found in options.list_opts() for opt in found
        if opt.secret and (opt.dest != 'password' or group.name == 'mail')}


def test_secret_options_are_masked_in_the_log(conf):
    names = ('password', 'secret', 'transport_url', 'connection')
    found = [opt for _, group in options.list_opts() for opt in group
             if opt.dest in names or (opt.dest.endswith(('_password', '_secret', '_url'))
                                      and opt.dest != 'auth_url')]
    assert {'password', 'notification_transport_url'} <= {opt.dest for opt in found}
    assert [opt.dest for opt in found if not opt.secret] == []
    # The group of oslo.db, which carries the password in its URL.
    assert conf._get_opt_info('connection', 'database')['opt'].secret
