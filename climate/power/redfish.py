# SPDX-License-Identifier: Apache-2.0
"""The power driver "redfish": the BMC of a host switches it, by the Redfish standard."""
import os
import stat
import threading
from urllib import parse

import requests
import sushy
from sushy import exceptions as sushy_errors

from climate import errors
from climate import yaml_text
from climate.power import base

_KEYS = frozenset({'address', 'username', 'password', 'system', 'ca_file'})
_EVERY = '*'
# A file for some ten thousand hosts.
_LONGEST = 4 * 1024 * 1024
#: The property with the address of a BMC that is not in the file.
ADDRESS = 'bmc_address'
# A machine that is being switched still has its old state. Any other state is unknown.
_STATES = {sushy.PowerState.ON: base.ON, sushy.PowerState.POWERING_OFF: base.ON,
           sushy.PowerState.OFF: base.OFF, sushy.PowerState.POWERING_ON: base.OFF}
# The first type that a BMC allows is used. PushPowerButton is left out, because a repeated push
# reverses the first one.
_ON_TYPES = (sushy.ResetType.ON, sushy.ResetType.FORCE_ON)
_OFF_TYPES = (sushy.ResetType.GRACEFUL_SHUTDOWN, sushy.ResetType.FORCE_OFF)
_ACTION_INFO = '@Redfish.ActionInfo'


class Redfish(base.Driver):
    """Calls BMCs. Addresses, user names and passwords are in [energy] bmc_file.

    The address may instead be in the property bmc_address of a resource. Passwords may not, because
    users may read properties.
    """

    def __init__(self, conf, cloud):
        super().__init__(conf, cloud)
        self._lock = threading.Lock()
        self._stamp, self._bmcs, self._connected = None, {}, {}
        if not conf.energy.bmc_file:
            raise errors.ConfigurationError(
                '[energy] bmc_file is not set, and [energy] driver is redfish.')
        try:
            self._read()
        except errors.PowerFailed as error:
            raise errors.ConfigurationError(
                f'[energy] bmc_file: {error.kwargs["reason"]}') from error

    def state(self, machine):
        return self._ask(machine, lambda system: _state(machine, system))

    def check(self, machine):
        def work(system):
            _state(machine, system)
            _reset_type(machine, system, _OFF_TYPES)
            _reset_type(machine, system, _ON_TYPES)
            _refuse_unread(machine, system)
        self._refuse_shared(machine)
        self._ask(machine, work)

    def wake(self, machine):
        self._ask(machine, lambda system: system.reset_system(
            _reset_type(machine, system, _ON_TYPES)))

    def sleep(self, machine):
        def work(system):
            _reset_type(machine, system, _ON_TYPES)
            _refuse_unread(machine, system)
            system.reset_system(_reset_type(machine, system, _OFF_TYPES))
        self._refuse_shared(machine)
        self._ask(machine, work)

    def _ask(self, machine, work):
        """Call `work` with the current system of a machine; return its result."""
        bmc = self._bmc(machine)
        try:
            return work(self._system(bmc))
        # If an answer is not Redfish, such as a list, sushy raises one of the last four errors.
        except (sushy_errors.SushyError, requests.RequestException, OSError,
                AttributeError, KeyError, TypeError, ValueError) as error:
            with self._lock:
                self._connected.pop(_key(bmc), None)
            text = str(error)
            if bmc.get('password'):
                text = text.replace(bmc['password'], '***')
            raise errors.PowerFailed(resource=machine.name,
                                     reason=f'its BMC: {text[:300]}') from None

    def _system(self, bmc):
        """Read the system of a BMC; the login is reused."""
        key = _key(bmc)
        with self._lock:
            root = self._connected.get(key)
        if root is None:
            connector = sushy.connector.Connector(
                bmc['address'], verify=bmc.get('ca_file') or True,
                default_request_timeout=self.conf.energy.timeout_seconds,
                # 1 means one attempt. 0 would mean three attempts, each with the whole time limit.
                server_side_retries=1)
            login = sushy.auth.SessionOrBasicAuth(bmc.get('username', ''), bmc.get('password', ''))
            root = sushy.Sushy(bmc['address'], connector=connector, auth=login)
            with self._lock:
                self._connected[key] = root
        return root.get_system(bmc.get('system'))

    def _bmc(self, machine):
        self._read()
        bmc = {**self._bmcs.get(_EVERY, {}), **self._bmcs.get(machine.name, {})}
        if machine.name not in self._bmcs and ADDRESS in machine.properties:
            bmc['address'] = machine.properties[ADDRESS]
        address = parse.urlsplit(str(bmc.get('address', '')))
        if address.scheme not in ('http', 'https') or not address.hostname:
            raise errors.PowerFailed(resource=machine.name, reason=(
                '[energy] bmc_file has no address of its BMC, such as https://10.0.0.7.'))
        return bmc

    def _refuse_shared(self, machine):
        """Refuse a system that the file also has for another machine, or for all machines.

        :raises PowerFailed: the other machine would be switched off, too.
        """
        bmc = self._bmc(machine)
        if machine.name not in self._bmcs and ADDRESS not in machine.properties and (
                'address' in bmc):
            raise errors.PowerFailed(resource=machine.name, reason=(
                f'[energy] bmc_file has no entry for it, and the address of "{_EVERY}" is that of '
                'other machines, too.'))
        for name, other in self._bmcs.items():
            if name not in (_EVERY, machine.name) and _is_one_system(
                    bmc, {**self._bmcs.get(_EVERY, {}), **other}):
                raise errors.PowerFailed(resource=machine.name, reason=(
                    f'in [energy] bmc_file {name} has the same BMC, so that each would switch off '
                    'the other one: give them different addresses, or different systems.'))

    def _read(self):
        """Read the file again if it has changed.

        :raises PowerFailed: the file cannot be read, is malformed, or other users may read it.
        """
        path = self.conf.energy.bmc_file
        try:
            with open(path, encoding='utf-8') as opened:
                stamp = _stat(opened)
                if stamp == self._stamp:
                    return
                if stamp[0] & (stat.S_IRWXO | stat.S_IWGRP):
                    raise _refused('others may read or change it; chmod 640 it.')
                bmcs = yaml_text.read(opened.read(_LONGEST + 1), _LONGEST) or {}
        except (OSError, UnicodeDecodeError) as error:
            raise _refused(f'it cannot be read: {error}') from error
        except ValueError:
            # The message of the parser would show a part of the file.
            raise _refused('it is not YAML, or has a key twice.') from None
        self._bmcs, self._stamp, self._connected = _checked(bmcs), stamp, {}


def _state(machine, system):
    if system.power_state not in _STATES:
        answer = (system.json or {}).get('PowerState')
        raise errors.PowerFailed(resource=machine.name, reason=(
            f'its BMC does not say whether it is on: its PowerState is {str(answer)[:40]}.'))
    return _STATES[system.power_state]


def _refuse_unread(machine, system):
    """Refuse a system whose list of reset types cannot be read.

    sushy then allows all reset types. This is sufficient only to wake a machine.

    :raises PowerFailed: the list cannot be read.
    """
    action = system.json['Actions']['#ComputerSystem.Reset']
    if _ACTION_INFO in action and (
            set(sushy.ResetType) == system.get_allowed_reset_system_values()):
        raise errors.PowerFailed(resource=machine.name, reason=(
            'its BMC does not say which reset types it allows: it lists them in '
            f'{str(action[_ACTION_INFO])[:80]}, which cannot be read.'))


def _reset_type(machine, system, types):
    """Return the first of the reset types that a system allows."""
    allowed = system.get_allowed_reset_system_values()
    for reset_type in types:
        if reset_type in allowed:
            return reset_type
    raise errors.PowerFailed(resource=machine.name, reason=(
        f'its BMC allows none of the reset types {", ".join(each.value for each in types)}, only '
        f'{", ".join(sorted(each.value for each in allowed)) or "others"}. Update the BMC, or '
        'leave the machine out of [energy] bmc_file.'))


def _checked(bmcs):
    if not isinstance(bmcs, dict) or not all(isinstance(bmc, dict) for bmc in bmcs.values()):
        raise _refused('it has to be {name: {address: …, username: …, password: …}}.')
    for name, bmc in bmcs.items():
        unknown = set(bmc) - _KEYS
        if unknown:
            raise _refused(f'{name} has the unknown key "{min(map(str, unknown))}"; known are '
                           f'{", ".join(sorted(_KEYS))}.')
    return {str(name): {key: str(value) for key, value in bmc.items()}
            for name, bmc in bmcs.items()}


def _refused(reason):
    return errors.PowerFailed(resource='bmc_file', reason=reason)


def _stat(opened):
    status = os.fstat(opened.fileno())
    return status.st_mode, status.st_mtime_ns, status.st_size, status.st_ino


def _is_one_system(one, other):
    """Return whether two entries of the file may name the same system."""
    first, second = ({name: str(bmc[name]).rstrip('/').lower() for name in ('address', 'system')
                      if bmc.get(name)} for bmc in (one, other))
    return 'address' in second and all(
        second.get(name, text) == text for name, text in first.items())


def _key(bmc):
    return tuple(sorted(bmc.items()))
