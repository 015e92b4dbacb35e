# SPDX-License-Identifier: Apache-2.0
"""Arguments of commands."""
import argparse
from importlib import metadata

import pytest

from climate.client.commands import arguments
from climate.client.commands import columns


@pytest.mark.parametrize('text, expected', [
    ('type=physical:host,min=1,max=2,properties=[">=","$vcpus","16"]',
     {'resource_type': 'physical:host', 'min': 1, 'max': 2,
      'resource_properties': '[">=","$vcpus","16"]'}),
    ('type=physical:host,max=2', {'resource_type': 'physical:host', 'min': 2, 'max': 2}),
    ('type=physical:host', {'resource_type': 'physical:host', 'min': 1, 'max': 1}),
    ("""type=physical:host,min=1,properties='["==","$a","b,c"]'""",
     {'resource_type': 'physical:host', 'min': 1, 'max': 1,
      'resource_properties': '["==","$a","b,c"]'}),
    ('resource_type=virtual:volume,size_gb=100', {'resource_type': 'virtual:volume',
                                                  'size_gb': 100}),
    ('type=virtual:instance,affinity=true,flavor="12",code=007',
     {'resource_type': 'virtual:instance', 'affinity': True, 'flavor': '12', 'code': '007'}),
    ('type=virtual:floatingip,network_id=n,required_floatingips=["10.0.0.1","10.0.0.2"]',
     {'resource_type': 'virtual:floatingip', 'network_id': 'n',
      'required_floatingips': ['10.0.0.1', '10.0.0.2']}),
    ('type=virtual:instance,resource_id=77777777,on_end=suspend',
     {'resource_type': 'virtual:instance', 'resource_id': '77777777', 'on_end': 'suspend'}),
    ('type=virtual:instance,resource_id=null,flavor_id=2',
     {'resource_type': 'virtual:instance', 'resource_id': None, 'flavor_id': '2'}),
    ('type=physical:host,min=1,max=1,properties=,extra_specs={"a:b": "c, d"}',
     {'resource_type': 'physical:host', 'min': 1, 'max': 1, 'resource_properties': '',
      'extra_specs': {'a:b': 'c, d'}}),
    ('type=virtual:dummy,label=7', {'resource_type': 'virtual:dummy', 'label': '7'}),
    ('type=virtual:dummy,label=true,depends_on=net',
     {'resource_type': 'virtual:dummy', 'label': 'true', 'depends_on': ['net']}),
    ('type=virtual:dummy,depends_on=[net, "7"]',
     {'resource_type': 'virtual:dummy', 'depends_on': ['net', '7']}),
])
def test_a_reservation_is_pairs_whose_values_may_be_json(text, expected):
    assert arguments.reservation(text) == expected


def _fields():
    """Yield (type, field, JSON types, schema) of each field of each type of Climate."""
    for point in metadata.entry_points(group='climate.plugins'):
        for name, schema in point.load().schema['properties'].items():
            kinds = schema.get('type', ['string'] if 'enum' in schema else [])
            yield pytest.param(point.name, name, {kinds} if isinstance(kinds, str) else {*kinds},
                               id=f'{point.name}-{name}')


_CRITERIA = ('resource_properties', 'hypervisor_properties')


@pytest.mark.parametrize('parse', [
    arguments.reservation, arguments.changed_reservation], ids=['new', 'changed'])
@pytest.mark.parametrize('kind, name, kinds', list(_fields()))
def test_a_value_is_of_the_type_of_its_field(parse, kind, name, kinds):
    def read(text):
        return parse(f'type={kind},id=7,{name}={text}')[name]
    if 'string' in kinds and name not in _CRITERIA:
        for text in ('2030', '-3', '007', '1.5', '1e3', 'true', 'False', 'yes', 'None', 'x:y'):
            assert read(text) == text
        assert read('null') in (None, 'null')
    if 'integer' in kinds:
        assert read('2') == 2
    if 'boolean' in kinds:
        assert (read('true'), read('False'), read('null')) == (True, False, None)
    if 'array' in kinds and name not in _CRITERIA:
        assert read('["a","7"]') == ['a', '7']
    if 'object' in kinds:
        assert read('{"a":"7"}') == {'a': '7'}


@pytest.mark.parametrize('name', sorted(arguments.NAME_FIELDS - {'resource_type', 'id'}))
def test_a_name_may_look_like_any_other_value(name):
    for text in ('null', 'NULL', '[x]', '{"a":1}', '0', 'true'):
        assert arguments.reservation(f'type=x,{name}={text}')[name] == text


def test_the_fields_that_are_text_are_fields_of_some_type():
    known = {each.values[1] for each in _fields()} | {'resource_type', 'id', 'label'}
    assert known >= arguments.NAME_FIELDS | arguments.TEXT_FIELDS


def test_a_reservation_is_shown_with_what_it_depends_on():
    shown = {'id': 'r', 'resource_type': 'virtual:dummy', 'status': 'active', 'label': 'server',
             'depends_on': ['net', 'disk']}
    assert columns.ReservationLines.line(shown) == (
        'r virtual:dummy active label=server depends_on=net,disk')


def test_a_host_of_several_instances_is_shown_once():
    shown = {'id': 'r', 'resource_type': 'virtual:instance', 'status': 'active', 'amount': 4,
             'resources': ['1', '1', '2', '1']}
    assert columns.ReservationLines.line(shown) == (
        'r virtual:instance active amount=4 has 1 (3 times),2')


@pytest.mark.parametrize('text, words', [
    ('min=1', 'does not say the type'),
    ('type=a,min', 'is not NAME=VALUE'),
    ('type=a,type=b', 'occurs twice'),
    ('type=a,properties=["a"', 'lacks a closing bracket'),
    ('type=a,properties="a', 'lacks "'),
    ('type=a,properties=[a]', 'resource_properties: .* is not JSON'),
    ('type=physical:host,min=a', 'min: "a" is not a number'),
    ('type=a,specs={"b":{"c":1,"c":2}}', 'the key "c" is given twice'),
    ('type=a,properties=["==","$a",{"b":1,"b":1}]', 'the key "b" is given twice'),
    ('type=a,sizes=[NaN]', 'NaN is not a JSON number'),
    ('type=physical:host,min=1٣', 'min: "1٣" is not a number'),
    ('type=physical:host,min=1,max=', 'max: "" is not a number'),
    ('', 'is not NAME=VALUE'),
])
def test_a_malformed_reservation_is_refused_with_an_example(text, words):
    with pytest.raises(argparse.ArgumentTypeError, match=words):
        arguments.reservation(text)


@pytest.mark.parametrize('text, expected', [
    ('vcpus>=16', ['>=', '$vcpus', '16']),
    ('gpu=True', ['==', '$gpu', 'True']),
    (' $rack != r 1 ', ['!=', '$rack', 'r 1']),
    ('capabilities:cpu == x86', ['==', '$capabilities:cpu', 'x86']),
    ('a<b', ['<', '$a', 'b']),
    ('gpu="True"', ['==', '$gpu', 'True']),
    ("rack != ' r 1 '", ['!=', '$rack', ' r 1 ']),
    ('empty=""', ['==', '$empty', '']),
    ('size>"19', ['>', '$size', '"19']),
    ('quote="', ['==', '$quote', '"']),
])
def test_a_condition_becomes_a_criterion(text, expected):
    assert arguments.requirement(text) == expected


def test_conditions_are_joined_by_and():
    assert arguments.hosts_reservation((1, 4), [['>=', '$vcpus', '16'], ['==', '$gpu', 'True']]
                                       ) == {
        'resource_type': 'physical:host', 'min': 1, 'max': 4, 'resource_properties':
        '["and", [">=", "$vcpus", "16"], ["==", "$gpu", "True"]]'}
    assert arguments.hosts_reservation((2, 2), [])['resource_properties'] == ''


@pytest.mark.parametrize('read, text', [
    (arguments.count, '0'), (arguments.count, '4-1'), (arguments.count, 'all'),
    (arguments.requirement, 'vcpus'), (arguments.requirement, '>=16'),
    (arguments.name_and_value, 'gpu'), (arguments.positive, '-1'), (arguments.positive, '9' * 19),
    (arguments.seconds, 'soon'), (arguments.changed_reservation, 'max=3'),
    (arguments.changed_reservation, 'id=r1'), (arguments.name_and_value, 'gpu==True'),
    (arguments.name_and_value, 'gpu>=1'), (arguments.name_and_value, 'gpu!=1'),
    (arguments.name_and_value, '<=1'), (arguments.count, '1٣'), (arguments.count, '1-٣'),
    (arguments.positive, '٣'), (arguments.positive, '１'), (arguments.whole, '-1٣'),
    (arguments.seconds, '١.٥'), (arguments.span, '٣h'),
])
def test_a_wrong_argument_says_what_to_write(read, text):
    with pytest.raises(argparse.ArgumentTypeError, match=r'[Ww]rite|such as'):
        read(text)
