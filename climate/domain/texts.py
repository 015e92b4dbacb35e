# SPDX-License-Identifier: Apache-2.0
"""Texts about a lease in two versions, one for its owner and one for operators.

Only the operators' version may have names of hosts, ids of other projects' reservations, addresses
and messages of other services.
"""
import dataclasses

from climate import errors

# The longest text that is stored, in characters: less than the 65,535 bytes of a column of MariaDB.
_LONGEST = 8_000


@dataclasses.dataclass(frozen=True)
class Text:
    """One text in two versions."""

    owner: str
    operator: str

    def within(self, before: str, after: str = '') -> 'Text':
        """Return a text with `before` and `after` around this one, in both versions."""
        return Text(f'{before}{self.owner}{after}', f'{before}{self.operator}{after}')


def same(text: str) -> Text:
    """Return a Text that has the same text in both versions."""
    return Text(text, text)


def of_error(error: errors.ClimateError) -> Text:
    """Return the two messages of an error."""
    return Text(error.owner_message, error.message)


def unexpected(error: Exception, event_id: str) -> Text:
    """Return the text about an error that is a bug. The owner's version has no details.

    :param event_id: the id of the event that failed, which is in the log too.
    """
    return Text('Climate failed unexpectedly. Your operator finds the reason in the log, under '
                f'event {event_id}.', f'Unexpected: {error} (event {event_id}).')


def joined(*parts: Text | None) -> Text | None:
    """Return the sentences of `parts` as one text; None if there is none."""
    present = [part for part in parts if part is not None]
    if not present:
        return None
    return Text(' '.join(part.owner for part in present),
                ' '.join(part.operator for part in present))


def columns(name: str, text: Text | None) -> dict[str, str | None]:
    """Return {name of the column: version} for the two columns that store a text.

    Only the beginning of a long text is stored.
    """
    return {name: None if text is None else _shortened(text.operator),
            f'owner_{name}': None if text is None else _shortened(text.owner)}


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else f'{text[:_LONGEST]}…'


def stored(operator: str | None, owner: str | None, lease_id: str) -> Text | None:
    """Return the text of a row, or None if it has none.

    :param owner: None if an earlier release wrote the row, without a version for owners.
    """
    if operator is None:
        return None
    if owner is None:
        owner = f'An operator can see what happened, by the id of the lease: {lease_id}.'
    return Text(owner, operator)


def plural(noun: str) -> str:
    """Return the plural of the name of a pool, such as "hosts" or "addresses"."""
    return f'{noun}es' if noun.endswith('s') else f'{noun}s'


def counted(count: int, one: str, many: str) -> str:
    """Return a number, followed by `one` if it is 1 and by `many` otherwise."""
    return f'{count} {one if count == 1 else many}'
