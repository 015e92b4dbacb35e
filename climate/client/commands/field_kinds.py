# SPDX-License-Identifier: Apache-2.0
"""The fields of reservations that are text, whatever their value on a command line looks like.

Values of other fields, such as those of other vendors' types, are guessed: 2 is a number.
"""

#: Names that users choose: a network may be called "null" or "{a}".
NAMES = frozenset({
    'resource_type', 'id', 'label', 'flavor_id', 'network_name', 'external_network', 'keypair',
    'volume_type', 'hint_parameter', 'zone_parameter'})
#: Other texts. For them null means none, and brackets begin JSON.
TEXTS = frozenset({
    'before_end', 'environment', 'flavor_parameter', 'give', 'hold_room', 'on_end',
    'on_image_failure', 'required_segment', 'subnet', 'template'})


def is_text(name: str) -> bool:
    """Whether a value of a field that is neither null nor JSON is sent as text."""
    return name in TEXTS or name.endswith('_id')
