# SPDX-License-Identifier: Apache-2.0
"""The keys that sign webhooks are encrypted in the database if there are keys for it."""
import acts
import pytest
import sqlalchemy as sa
from support import builders
from support import delivery_rounds

from climate import errors
from climate.db import tables
from climate.domain import notifications
from climate.domain import subscriptions
from climate.manager.notifications import encryption
from climate.notifiers import webhook

NOON, hours = builders.NOON, builders.hours


@pytest.fixture
def with_keys(conf, manager):
    """callable(keys): a manager that has these keys."""
    def made(*keys):
        conf.set_override('encryption_keys', list(keys), group='notifications')
        return builders.Manager(conf, manager.database, manager.clock, cloud=manager.cloud)
    return made


def stored(manager):
    """The columns with the key of the only subscription."""
    with manager.database.reader() as connection:
        [row] = connection.execute(sa.select(tables.SUBSCRIPTIONS))
    return row.secret, row.sealed_secret


def is_signed(hooks):
    """Return whether the last webhook is signed with the key of `delivery_rounds.subscribe`."""
    headers, body = hooks.requests[-1]
    return headers[webhook.SIGNATURE_HEADER] == (
        f'v1={webhook.signature("the-key", headers[webhook.TIME_HEADER], body)}')


def tell(manager, hooks):
    """Deliver a notification; return whether a good signature arrived."""
    before = len(hooks.requests)
    manager.active(acts.dummy(), end=manager.clock() + hours(2))
    delivery_rounds.deliver(manager)
    return len(hooks.requests) > before and is_signed(hooks)


def test_a_key_is_encrypted_and_signs_as_before(with_keys, hooks):
    manager = with_keys(encryption.new_key())
    delivery_rounds.subscribe(manager, hooks.url, events=('start',))
    secret, sealed = stored(manager)
    assert secret is None
    assert 'the-key' not in sealed
    assert tell(manager, hooks)


def test_keys_in_the_clear_are_encrypted_and_the_key_is_changed_without_a_gap(with_keys, hooks):
    manager, (old, new) = with_keys(), (encryption.new_key(), encryption.new_key())
    delivery_rounds.subscribe(manager, hooks.url, events=('start',))
    assert stored(manager) == ('the-key', None)
    forms = set()
    for keys in ((old,), (new, old), (new,)):
        manager = with_keys(*keys)
        assert tell(manager, hooks)
        assert encryption.KeyEncryption(manager.core.conf).encrypt_all(manager.database) == (1, [])
        assert stored(manager)[0] is None
        forms.add(stored(manager)[1])
        assert tell(manager, hooks)
    assert len(forms) == 3


def test_a_lost_key_is_logged_and_blames_no_receiver(with_keys, hooks):
    manager = with_keys(encryption.new_key())
    found = delivery_rounds.subscribe(manager, hooks.url, events=('start',))
    for keys in ((encryption.new_key(),), ()):
        manager = with_keys(*keys)
        assert not tell(manager, hooks)
        [entry, *_] = delivery_rounds.log(manager, found)
        assert 'encryption_keys' in delivery_rounds.log(manager, found)[-1].reason
        assert entry.state == notifications.WAITING
        assert encryption.KeyEncryption(manager.core.conf).encrypt_all(manager.database) == (
            0, [found.id])
    shown = manager.client.get_subscription(builders.a_member(), found.id)
    assert (shown.enabled, shown.failures) == (True, 0)
    # Its user renews the key.
    manager = with_keys(encryption.new_key())
    manager.client.update_subscription(builders.a_member(), found.id,
                                       subscriptions.SubscriptionChanges(secret='the-key'))
    manager.clock.advance(hours(1))
    assert tell(manager, hooks)


@pytest.mark.parametrize('key', ['', 'short', 'ä' * 44, 'a' * 44])
def test_an_invalid_key_is_refused_with_the_option(with_keys, key):
    with pytest.raises(errors.ConfigurationError, match='encryption_keys'):
        with_keys(key)
