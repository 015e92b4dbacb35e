# SPDX-License-Identifier: Apache-2.0
"""Find the receiver of a share, of a transfer or of a sub-lease in Keystone."""
from climate import errors
from climate.domain import shares

_KINDS = {shares.PROJECT_ID: 'project', shares.USER_ID: 'user'}


def find(core, receiver_kind, wanted, field=None):
    """Return the KeystoneIdentity of a project or a user.

    :param receiver_kind: PROJECT_ID or USER_ID.
    :param wanted: its id or its name.
    :param field: the field of the request that names it; None: `receiver_kind`.
    :raises BadField: Keystone has none, or several, or it is disabled.
    :raises CloudUnreachable: Keystone does not answer.
    """
    kind, field = _KINDS[receiver_kind], field or receiver_kind
    identities = core.cloud.as_service().keystone.identities(kind, wanted)
    if not identities:
        raise errors.BadField(field=field, reason=(
            f'Keystone has no {kind} "{wanted}": give the id or the exact name of a {kind}.'))
    if len(identities) > 1:
        raise errors.BadField(field=field, reason=(
            f'Keystone has {len(identities)} {kind}s with the name "{wanted}", in different '
            'domains: give the id.'))
    [identity] = identities
    if not identity.enabled:
        raise errors.BadField(field=field, reason=(
            f'the {kind} "{wanted}" is disabled: ask its administrator to enable it first.'))
    return identity
