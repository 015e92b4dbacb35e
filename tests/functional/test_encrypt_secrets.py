# SPDX-License-Identifier: Apache-2.0
"""climate-db new-key and encrypt-secrets as an operator runs them: real processes, a real file."""
import datetime
import os
import pathlib
import signal
import subprocess
import sys

from cryptography import fernet
import pytest
import sqlalchemy as sa
from support import builders
from support import programs
from support import waiting

from climate.db import engine
from climate.db import subscriptions
from climate.db import tables
from climate.domain import subscriptions as domain
from climate.manager.notifications import encryption

PROGRAMS = pathlib.Path(sys.executable).parent
NOON = builders.NOON
EMPTY = 'climate-db: [notifications] encryption_keys is empty'


class Operator:
    """Runs climate-db with a configuration; each command is a process of its own."""

    def __init__(self, tmp_path):
        self._tmp_path = tmp_path
        self._path = None
        self.configure()
        assert self.run('upgrade')[0] == 0
        self.database = engine.Database(f'sqlite:///{tmp_path}/climate.sqlite')

    def configure(self, *keys, more=''):
        self._path = builders.on_files(self._tmp_path, (
            f'{more}\n[notifications]\nencryption_keys = {",".join(keys)}\n'))

    def begin(self, *words, program=(str(PROGRAMS / 'climate-db'),)):
        return subprocess.Popen(
            [*program, '--config-file', str(self._path), *words],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, 'CLIMATE_STATE': str(self._tmp_path)})

    def run(self, *words):
        """The exit status, and what a command says on both streams."""
        status, *said = programs.run('climate-db', '--config-file', self._path, *words,
                                     CLIMATE_STATE=str(self._tmp_path))
        return status, *(each.strip() for each in said)

    def subscribe(self, count, first=0):
        """Subscriptions by webhook of an earlier release: their keys are in the clear."""
        with self.database.writer() as connection:
            for number in range(first, first + count):
                subscriptions.add(connection, domain.Subscription(
                    id=f'{number:08}', project_id=f'p{number}', user_id='u', scope='own',
                    transport='webhook', address='https://example.org/', events=('start',),
                    before_end=(), created_at=NOON + datetime.timedelta(seconds=number)),
                    0, secret=f'key-{number}')

    def stored(self):
        """The columns of the keys, by subscription."""
        with self.database.reader() as connection:
            return {row.id: (row.secret, row.sealed_secret) for row in connection.execute(
                sa.select(tables.SUBSCRIPTIONS).order_by(tables.SUBSCRIPTIONS.c.id))}

    def opened(self, key):
        """The keys as a manager with that encryption key reads them."""
        return [plain if sealed is None else fernet.Fernet(key).decrypt(sealed).decode()
                for plain, sealed in self.stored().values()]


@pytest.fixture
def operator(database, tmp_path):
    if database.dialect != 'sqlite':
        pytest.skip('The programs read a configuration with a file of SQLite.')
    found = Operator(tmp_path)
    yield found
    found.database.dispose()


@pytest.mark.proof
def test_old_keys_are_encrypted_and_a_second_run_changes_no_key(operator):
    operator.subscribe(3)
    status, key, _ = operator.run('new-key')
    assert status == 0
    operator.configure(key)
    forms = []
    for _ in range(2):
        status, said, complained = operator.run('encrypt-secrets')
        assert (status, complained) == (0, '')
        assert said == ('Encrypted 3 keys of webhooks by the first key of [notifications] '
                        'encryption_keys.')
        assert [plain for plain, _ in operator.stored().values()] == [None] * 3
        assert operator.opened(key) == ['key-0', 'key-1', 'key-2']
        forms.append(operator.stored())
    # Nothing in the file of the database says what a key was.
    assert all('key-' not in sealed for form in forms for _, sealed in form.values())


@pytest.mark.proof
def test_a_key_is_replaced_by_a_new_one_before_the_old_one(operator):
    operator.subscribe(2)
    old, new = encryption.new_key(), encryption.new_key()
    for keys in ((old,), (new, old)):
        operator.configure(*keys)
        assert operator.run('encrypt-secrets')[0] == 0
    assert operator.opened(new) == ['key-0', 'key-1']


@pytest.mark.proof
def test_without_a_key_nothing_is_changed(operator):
    operator.subscribe(1)
    status, said, complained = operator.run('encrypt-secrets')
    assert (status, said) == (1, '') and complained.startswith(EMPTY)
    assert operator.stored() == {'00000000': ('key-0', None)}


@pytest.mark.proof
def test_a_secret_that_no_key_decrypts_is_named_and_stays_as_it_is(operator):
    operator.subscribe(2)
    right, wrong = encryption.new_key(), encryption.new_key()
    operator.configure(right)
    assert operator.run('encrypt-secrets')[0] == 0
    lost = operator.stored()
    operator.subscribe(3, first=2)
    operator.configure(wrong)
    status, said, complained = operator.run('encrypt-secrets')
    # Those that it can encrypt do not wait for the lost ones.
    assert status == 1 and said.startswith('Encrypted 3 keys of webhooks')
    assert complained.startswith(
        'climate-db: no key of [notifications] encryption_keys decrypts the keys of 2 '
        'subscriptions, which are as they were: 00000000, 00000001. Add the key')
    assert operator.stored().items() >= lost.items()
    operator.configure(wrong, right)
    assert operator.run('encrypt-secrets')[0] == 0
    assert operator.opened(wrong) == [f'key-{number}' for number in range(5)]


@pytest.mark.proof
def test_an_invalid_key_is_named(operator):
    operator.configure('secret')
    status, _, complained = operator.run('encrypt-secrets')
    assert status == 1 and complained.startswith(
        'climate-db: [notifications] encryption_keys: a key is 32 bytes in URL-safe base64')


@pytest.mark.proof
def test_a_run_that_is_killed_loses_no_key_and_the_next_one_finishes_it(operator):
    count = 9
    operator.subscribe(count)
    key = encryption.new_key()
    operator.configure(key)
    process = operator.begin('encrypt-secrets', program=programs.climate_db_that_dies(4))
    process.communicate(timeout=waiting.SECONDS)
    assert process.returncode == -signal.SIGKILL
    halves = [sealed is None for _, sealed in operator.stored().values()]
    assert any(halves) and not all(halves)
    # Each key is there once, in the clear or encrypted, and a manager reads both.
    assert all((plain is None) != (sealed is None) for plain, sealed in operator.stored().values())
    assert operator.opened(key) == [f'key-{number}' for number in range(count)]
    assert operator.run('encrypt-secrets')[0] == 0
    assert all(plain is None for plain, _ in operator.stored().values())
    assert operator.opened(key) == [f'key-{number}' for number in range(count)]


@pytest.mark.proof
def test_a_new_key_needs_no_database(operator, tmp_path):
    path = tmp_path / 'elsewhere.conf'
    path.write_text('[database]\nconnection = mysql+pymysql://climate@127.0.0.1:'
                    f'{builders.a_free_port()}/climate\nmax_retries = 0\n')
    done = subprocess.run([str(PROGRAMS / 'climate-db'), '--config-file', str(path), 'new-key'],
                          capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    fernet.Fernet(done.stdout.strip())
