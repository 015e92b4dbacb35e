# SPDX-License-Identifier: Apache-2.0
"""Encryption of the stored keys that sign webhooks.

The first key in [notifications] encryption_keys encrypts, and all keys in it decrypt. If the option
is empty, the keys of webhooks are stored unencrypted.
"""
from cryptography import fernet

from climate import errors
from climate.db import subscriptions
from climate.notifiers import base


class KeyEncryption:
    """Encrypts and decrypts the keys that sign webhooks.

    :raises ConfigurationError: a value of the option is not a key.
    """

    def __init__(self, conf):
        try:
            keys = [fernet.Fernet(key) for key in conf.notifications.encryption_keys]
        except ValueError as error:
            raise errors.ConfigurationError(
                '[notifications] encryption_keys: a key is 32 bytes in URL-safe base64; '
                '"climate-db new-key" prints one.') from error
        self._fernet = fernet.MultiFernet(keys) if keys else None

    def columns(self, secret):
        """Return the columns that store a secret, {name: value}."""
        if self._fernet is None:
            return {'secret': secret, 'sealed_secret': None}
        return {'secret': None, 'sealed_secret': self._fernet.encrypt(secret.encode()).decode()}

    def decrypted(self, secret, encrypted):
        """Return the secret that was stored as it is or encrypted, or None if there is none.

        :raises Undelivered: no configured key decrypts it. The subscription is not at fault.
        """
        if encrypted is None:
            return secret
        try:
            if self._fernet is not None:
                return self._fernet.decrypt(encrypted).decode()
        except fernet.InvalidToken:
            pass
        raise base.Undelivered('An operator must act: no key of [notifications] encryption_keys '
                               'decrypts the key that signs this webhook.', counts=False)

    def encrypt_all(self, database):
        """Encrypt the keys of all webhooks again with the first configured key.

        Each key has its own transaction. After a crash, call this method again.

        :returns: (the number of encrypted keys, the ids of the subscriptions whose key cannot be
            decrypted and remains unchanged).
        """
        with database.reader() as connection:
            ids = subscriptions.ids_with_secrets(connection)
        lost = []
        for subscription_id in ids:
            with database.writer() as connection:
                stored = subscriptions.lock_secret(connection, subscription_id)
                if stored is None:
                    continue
                try:
                    secret = self.decrypted(*stored)
                except base.Undelivered:
                    lost.append(subscription_id)
                else:
                    subscriptions.store_secret(connection, subscription_id, **self.columns(secret))
        return len(ids) - len(lost), lost


def new_key():
    """Return a new key for [notifications] encryption_keys."""
    return fernet.Fernet.generate_key().decode()
