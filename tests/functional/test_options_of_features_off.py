# SPDX-License-Identifier: Apache-2.0
"""A wrong option stops a daemon only if the feature that reads it is on."""
from oslo_config import cfg
from oslo_messaging import conffixture
import pytest
from support import builders
from support import thinning

from climate import conf as configuration
from climate import errors
from climate.api import app
from climate.manager import prerequisites

OPENSTACK = ('[cloud]\ndriver = openstack\n[keystone]\nauth_type = password\n'
             'auth_url = http://127.0.0.1:9/v3\nusername = climate\npassword = p\n'
             'user_domain_name = Default\n')
STACKS = '[DEFAULT]\nplugins = virtual:stack\n'

# (wrong options, what switches their feature off, what switches it on, what the error names)
OF_MANAGER = [
    ('[nova]\nnotification_transport_url = nonsense', '', '[nova]\nnotifications = true',
     'notification_transport_url'),
    ('[oslo_messaging_notifications]\ntransport_url = bogus://127.0.0.1/',
     '[oslo_messaging_notifications]\ndriver = noop',
     '[oslo_messaging_notifications]\ndriver = messagingv2', 'transport_url'),
    ('[oslo_messaging_notifications]\ntransport_url = bogus://127.0.0.1/', '',
     '[nova]\nnotifications = true', 'transport_url'),
    ('[manager]\nmetrics_cert_file = /nowhere', '', '[manager]\nmetrics_port = 9',
     'metrics_cert_file'),
    ('[manager]\nmetrics_cert_file = /nowhere\nmetrics_key_file = /nowhere', '',
     '[manager]\nmetrics_port = 9', 'metrics_key_file'),
    ('[idle]\nkeep_days = 1\nidle_hours = 25', '', '[idle]\nsample_minutes = 5', 'keep_days'),
    ('[mail]\nsender = nonsense', '', '[mail]\nhost = h', 'sender'),
    ('[mail]\nca_file = /nowhere', '', '[mail]\nhost = h', 'ca_file'),
    ('[mail]\nusername = climate\ntls = none', '', '[mail]\nhost = h', 'username'),
    ('[health]\nhttp_url = nonsense', '', '[health]\nsources = http', 'http_url'),
    ('[health]\nhttp_ca_file = /nowhere', '',
     '[health]\nsources = http\nhttp_url = https://h/', 'http_ca_file'),
    ('[energy]\nbmc_file = /nowhere', '', '[energy]\ndriver = redfish', 'bmc_file'),
    ('[energy]\ncommand = /nowhere', '', '[energy]\ndriver = command', 'command'),
    ('[keystone]\nauth_type = nonsense', '', '[cloud]\ndriver = openstack', 'auth_type'),
    ('[keystone]\ncafile = /nowhere', '', OPENSTACK, 'cafile'),
    ('[nova]\nendpoint_override = nonsense', '', OPENSTACK, 'endpoint_override'),
    ('[heat]\ncafile = /nowhere', OPENSTACK, OPENSTACK + STACKS, 'heat'),
    ('[heat]\nconcurrency = none', '', STACKS, 'concurrency'),
    ('[simulated]\nstate = /nowhere/x', OPENSTACK, '', 'state'),
]
OF_API = [
    ('[api]\nhttp_basic_file = /nowhere', '[api]\nauth_strategy = noauth',
     '[api]\nauth_strategy = http_basic', 'http_basic_file'),
]


@pytest.fixture
def load(database, tmp_path):
    """callable(options): the configuration of a file that ends with them."""
    if database.dialect != 'sqlite':
        pytest.skip('The configuration names a file of SQLite.')

    def found(*more):
        path = builders.on_files(tmp_path, '\n'.join(more))
        conf = configuration.register(cfg.ConfigOpts())
        conf([], project='climate', default_config_files=[str(path)], default_config_dirs=[])
        return conf
    return found


def _check_manager(conf):
    # It registers options that oslo.messaging expects.
    with conffixture.ConfFixture(conf, transport_url='fake:/'):
        prerequisites.check(conf)


def _check_api(conf):
    app.build(conf, manager=object())


@pytest.mark.parametrize(('check', 'wrong', 'off', 'on', 'said'), thinning.few([
    *((_check_manager, *row) for row in OF_MANAGER), *((_check_api, *row) for row in OF_API)], 8))
def test_a_wrong_option_stops_a_daemon_only_if_its_feature_is_on(load, check, wrong, off, on, said):
    check(load(wrong, off))
    with pytest.raises((errors.ConfigurationError, errors.CloudError), match=said):
        check(load(wrong, on))
