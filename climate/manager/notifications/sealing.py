# SPDX-License-Identifier: Apache-2.0
"""Encryption of the keys that sign webhooks, as they are in the database.

The first key of [notifications] encryption_keys encrypts; each of them decrypts. Without any, the
keys of webhooks are in the database in the clear.
"""
from cryptography import fernet

from climate.db import subscriptions
from climate.notifiers import base


class Sealer:
    """Encrypts and decrypts the keys that sign webhooks.

    :raises Unusable: a key of the configuration is none.
    """

    def __init__(self, conf):
        try:
            keys = [fernet.Fernet(each) for each in conf.notifications.encryption_keys]
        except ValueError as error:
            raise base.Unusable('[notifications] encryption_keys: a key is 32 bytes in URL-safe '
                                'base64; "climate-db new-key" prints one.') from error
        self._fernet = fernet.MultiFernet(keys) if keys else None

    def columns(self, secret):
        """Return how a secret is stored, {column: value}."""
        if self._fernet is None:
            return {'secret': secret, 'sealed_secret': None}
        return {'secret': None, 'sealed_secret': self._fernet.encrypt(secret.encode()).decode()}

    def opened(self, secret, sealed):
        """Return the secret of two columns, or None if there is none.

        :raises Undelivered: no key of the configuration decrypts it; the receiver is not at fault.
        """
        if sealed is None:
            return secret
        try:
            if self._fernet is not None:
                return self._fernet.decrypt(sealed).decode()
        except fernet.InvalidToken:
            pass
        raise base.Undelivered('The operator must look: no key of [notifications] encryption_keys '
                               'decrypts the key that signs this webhook.', counts=False)

    def seal_all(self, database):
        """Encrypt all keys again, by the first key of the configuration.

        Each is stored in a transaction of its own, so after a crash this is called again.

        :returns: (how many were stored, the ids of the subscriptions whose key cannot be
            decrypted: those are as they were).
        """
        with database.reader() as connection:
            ids = subscriptions.ids_with_secrets(connection)
        lost = []
        for each in ids:
            with database.writer() as connection:
                stored = subscriptions.lock_secret(connection, each)
                if stored is None:
                    continue
                try:
                    secret = self.opened(*stored)
                except base.Undelivered:
                    lost.append(each)
                else:
                    subscriptions.store_secret(connection, each, **self.columns(secret))
        return len(ids) - len(lost), lost


def new_key():
    """Return a new key for [notifications] encryption_keys."""
    return fernet.Fernet.generate_key().decode()
