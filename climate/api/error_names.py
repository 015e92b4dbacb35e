# SPDX-License-Identifier: Apache-2.0
"""The codes, details and messages of errors about hosts and servers, as existing clients know them.

The classes in ``climate.errors`` are about resources of any pool and targets of any kind.
"""
import copy

from climate import errors

HOST, SERVER = 'host', 'server'

#: Codes of errors about a resource of the pool "host".
OF_HOSTS = {
    errors.ResourceNotFound: 'host_not_found',
    errors.ResourceInUse: 'host_in_use',
    errors.ResourceKnown: 'host_known',
    errors.ResourceAmbiguous: 'host_ambiguous',
    errors.UnknownPool: 'not_found',
}
#: Codes of errors about a leased server.
OF_SERVERS = {
    errors.TargetGone: 'server_not_found',
    errors.TargetLeased: 'server_leased',
}
# Names of the details in these errors; None removes a detail.
_DETAILS_OF_HOSTS = {'pool': None, 'resource': 'host', 'resource_id': 'host_id'}
_DETAILS_OF_SERVERS = {'kind': None, 'target_id': 'server_id'}


def code(error):
    """Return the stable code of an error, for programs."""
    if _is_of_host(error):
        return _code_of(error, OF_HOSTS)
    if _is_of_server(error):
        return _code_of(error, OF_SERVERS)
    return error.code


def details(error):
    """Return the details of an error for programs of operators, as a JSON-ready dict."""
    return _on_the_wire(error, error.details)


def owner_details(error):
    """Return the details of an error for programs of owners, as a JSON-ready dict."""
    return _on_the_wire(error, error.owner_details)


def message(error):
    """Return the message of an error for operators."""
    return _of_ambiguous(error) or error.message


def owner_message(error):
    """Return the message of an error for owners of leases."""
    return _of_ambiguous(error) or error.owner_message


def at_1_0(error):
    """Replace an error for REST 1.0.

    Clients of REST 1.0 search for "Missing parameter" and expect 403 for a wrong before_end_date.
    They expect 400 if too few resources are free or a quota is full, and repeat the request after
    any other status. A limit of the limit book is no such quota, so that its status stays 403.
    """
    if isinstance(error, errors.NotEnough | errors.LimitReached) and not isinstance(
            error, errors.LimitExceeded):
        renamed = copy.copy(error)
        renamed.status = 400
        return renamed
    # The field of a malformed date is before_end_date, and its error stays 400.
    if isinstance(error, errors.BadDate) and error.kwargs.get('field') == 'before_end':
        return errors.Forbidden(error.message.replace('before_end:', 'before_end_date:', 1))
    missing = error.kwargs.get('missing') if isinstance(error, errors.BadField) else None
    return errors.MissingFields(fields=', '.join(missing)) if missing else error


def _code_of(error, codes):
    """Return the code of an error's class or base class, because the bus makes subclasses."""
    return next((code for klass, code in codes.items() if isinstance(error, klass)), error.code)


def _is_of_host(error):
    return error.kwargs.get('pool') == HOST


def _is_of_server(error):
    return error.kwargs.get('kind') == SERVER


def _on_the_wire(error, details):
    if _is_of_host(error):
        return _renamed(details, _DETAILS_OF_HOSTS)
    if _is_of_server(error):
        return _renamed(details, _DETAILS_OF_SERVERS)
    return details


def _of_ambiguous(error):
    if isinstance(error, errors.ResourceAmbiguous) and _is_of_host(error):
        return (f'More than one hypervisor is called {error.kwargs["resource"]}: names must be '
                'unique for hosts that are leased.')
    return None


def _renamed(details, names):
    renamed = {names.get(key, key): value for key, value in details.items()}
    renamed.pop(None, None)
    return renamed
