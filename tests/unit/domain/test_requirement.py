# SPDX-License-Identifier: Apache-2.0
"""The filter language: what it accepts, what it means, and how it refuses."""
import json

import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import requirement
from climate.domain import values


def met(value, **properties):
    return requirement.matches(requirement.parse(value), properties)


names = st.sampled_from(['vcpus', 'gpu', 'memory_mb', 'ünïcode 🐍', 'a:b', 'traits'])
some_values = st.one_of(st.none(), st.booleans(), st.integers(-5, 20), st.sampled_from(
    ['4', '16', ' 8 ', '8.0', '1e1', 'A100', 'true', 'False', '', '🐍', 'nan', '0x10']),
    st.floats(allow_nan=False, allow_infinity=False))
signs = st.sampled_from(['==', '!=', '<', '<=', '>', '>=', 's==', 's!=', 's<', 's>=', 'contains'])
leaves = st.one_of(
    st.tuples(signs, names.map('${}'.format), some_values).map(list),
    st.tuples(st.just('in'), names.map('${}'.format), st.lists(some_values, min_size=1, max_size=3))
    .map(list))
trees = st.recursive(leaves, lambda inner: st.one_of(
    st.lists(inner, min_size=1, max_size=3).map(lambda parts: ['and', *parts]),
    st.lists(inner, min_size=1, max_size=3).map(lambda parts: ['or', *parts]),
    inner.map(lambda part: ['not', part])), max_leaves=8)
hosts = st.dictionaries(names, some_values | st.lists(some_values, max_size=2), max_size=5)


@pytest.mark.parametrize('nothing', [None, '', '  ', '[]', 'null', '""', [], ()])
def test_an_empty_requirement_requires_nothing(nothing):
    assert requirement.parse(nothing) == requirement.NOTHING
    assert met(nothing)
    assert requirement.to_json(requirement.parse(nothing)) == []


@pytest.mark.parametrize('sign, wanted, value', [
    ('>=', '8', '16'), ('>=', 8, '16'), ('<', '8.5', 8), ('==', '4', ' 4.0 '), ('=', 1000, '1e3'),
    ('==', 'true', True), ('==', True, 'TRUE'), ('!=', 'true', 'false'), ('==', 'A100', 'A100'),
    ('!=', 'A100', 'a100'), ('<', 'b', 'a'), ('!=', '8', 'eight'), ('==', 0.1, '0.1'),
    ('>', 2 ** 64, 2 ** 64 + 1), ('>', str(2 ** 64), str(2 ** 64 + 1)), ('!=', 1, True),
    ('!=', None, 'x'), ('s>', '16', '8'), ('s!=', '8', '8.0'), ('contains', 'NV', 'NVIDIA'),
    ('contains', 'b', ['a', 'b']), ('==', 'b', ['a', 'b']), ('!=', 'c', ['a', 'b']),
])
def test_a_comparison_holds(sign, wanted, value):
    assert met([sign, '$x', wanted], x=value)


@pytest.mark.parametrize('sign, wanted, value', [
    ('<', '8', 'a'), ('>', '8', 'a'), ('<=', 'a', 8), ('>=', 'a', 8), ('==', 'A100', 'a100'),
    ('==', 1, True), ('<', 'true', 5), ('==', 'nan', 5), ('<', 9, [8]), ('!=', 'b', ['a', 'b']),
    ('==', None, 'x'), ('<', None, 'x'), ('>=', None, 8), ('contains', 'a', ['ab']),
])
def test_a_comparison_does_not_hold(sign, wanted, value):
    assert not met([sign, '$x', wanted], x=value)


@pytest.mark.parametrize('sign', ['==', '!=', '<', '>=', 's!=', 'contains'])
def test_a_host_without_the_property_meets_no_comparison(sign):
    assert not met([sign, '$x', '1'])
    assert not met([sign, '$x', '1'], x=None)
    assert not met(['in', '$x', ['1']])


def test_negation_holds_for_a_missing_property_too():
    assert met(['not', ['==', '$gpu', 'A100']])


def test_in_is_met_by_any_of_the_values_in_both_its_forms():
    for form in (['in', '$n', ['4', 'b']], ['in', '$n', '4', 'b']):
        assert met(form, n=4) and met(form, n='b') and not met(form, n='c')
        assert met(form, n=['c', 'b'])


def test_connectives_nest():
    asked = ['and', ['>=', '$vcpus', '4'], ['or', ['==', '$gpu', 'A100'], ['not', ['=', '$a', 1]]]]
    assert met(asked, vcpus='8', gpu='A100', a=1)
    assert met(asked, vcpus='8', gpu='T4', a=2)
    assert not met(asked, vcpus='8', gpu='T4', a=1)
    assert not met(asked, vcpus='2', gpu='A100')


@hypothesis.given(trees, hosts)
def test_a_tree_means_what_its_parts_mean(tree, host):
    def by_hand(part):
        if part[0] == 'and':
            return all(by_hand(inner) for inner in part[1:])
        if part[0] == 'or':
            return any(by_hand(inner) for inner in part[1:])
        if part[0] == 'not':
            return not by_hand(part[1])
        if part[0] == 'in':
            return any(met(['==', part[1], value], **host) for value in part[2]
                       if value is not None)
        return met(part, **host)
    hypothesis.assume(not any(isinstance(value, list) and None in value
                              for value in host.values()))
    assert met(tree, **host) == by_hand(tree)


@hypothesis.given(st.integers() | st.floats(-1e9, 1e9), st.integers() | st.floats(-1e9, 1e9),
                  st.booleans())
def test_numbers_are_compared_exactly_also_as_text(value, wanted, as_text):
    shape = repr if as_text else (lambda number: number)
    hypothesis.assume(isinstance(wanted, float) or abs(wanted) < 2 ** 190)
    expected = values.number(repr(value)), values.number(repr(wanted))
    assert met(['<', '$x', shape(wanted)], x=value) == (expected[0] < expected[1])
    assert met(['==', '$x', shape(wanted)], x=value) == (expected[0] == expected[1])


@pytest.mark.parametrize('alias, name', [
    ('cores', 'vcpus'), ('ram', 'memory_mb'), ('disk', 'local_gb'), ('capabilities:gpu', 'gpu'),
    ('capabilities:ram', 'memory_mb'), ('region', 'region'),
    ('availability_zone', 'availability_zone')])
def test_names_come_out_canonical(alias, name):
    assert requirement.names(requirement.parse(['>', f'${alias}', 1])) == {name}
    assert requirement.names(requirement.parse(['in', f'${alias}', [1]])) == {name}


def test_names_are_those_of_the_whole_tree():
    asked = ['or', ['and', ['=', '$a', 1], ['in', '$b', 1]], ['not', ['=', '$trait:X', 'required']]]
    assert requirement.names(requirement.parse(asked)) == {'a', 'b', 'traits'}
    assert requirement.names(requirement.NOTHING) == frozenset()


@pytest.mark.parametrize('sign, word, has_it', [
    ('=', 'required', True), ('==', True, True), ('==', 'True', True), ('!=', 'forbidden', True),
    ('=', 'forbidden', False), ('=', False, False), ('!=', 'required', False)])
def test_a_trait_is_asked_for_or_forbidden(sign, word, has_it):
    asked = [sign, '$trait:HW_CPU_X86_AVX512F', word]
    assert met(asked, traits=frozenset({'HW_CPU_X86_AVX512F'})) == has_it
    assert met(asked, traits=frozenset({'HW_CPU_X86_AVX512FX'})) != has_it


def test_criteria_can_be_read_one_by_one():
    asked = requirement.parse(json.dumps([
        'and', ['>=', '$cores', '16'], ['=', '$model', 'Xeon Gold'],
        ['and', ['in', '$gpu', ['A100', 'H100']]], ['not', ['=', '$ssd', True]],
        ['or', ['=', '$a', 1], ['and', ['=', '$b', 2], ['=', '$c', None]]]]))
    assert [str(part) for part in requirement.criteria(asked)] == [
        'vcpus >= 16', 'model == "Xeon Gold"', 'gpu in (A100, H100)', 'not (ssd == true)',
        'a == 1 or (b == 2 and c == null)']
    assert str(requirement.NOTHING) == 'anything'


def test_one_comparison_is_one_criterion():
    asked = requirement.parse(['=', '$a', 1])
    assert requirement.criteria(asked) == [asked]


def test_a_conjunction_asks_for_everything_and_flattens():
    one, other = requirement.parse(['=', '$a', 1]), requirement.parse(['>', '$b', 2])
    both = requirement.conjunction(one, requirement.NOTHING, other)
    assert both == requirement.parse(['and', ['=', '$a', 1], ['>', '$b', 2]])
    assert requirement.conjunction(both, one) == requirement.All((one, other, one))
    assert requirement.conjunction(one) == one
    assert requirement.conjunction() == requirement.NOTHING


@hypothesis.given(trees)
def test_a_requirement_survives_the_way_to_json_and_back(tree):
    read = requirement.parse(tree)
    again = requirement.parse(json.dumps(requirement.to_json(read)))
    assert again == read
    assert json.dumps(requirement.to_json(again)) == json.dumps(requirement.to_json(read))


def test_an_unknown_property_is_refused_and_the_known_ones_are_named():
    with pytest.raises(errors.UnknownProperty) as caught:
        requirement.check_names(requirement.parse(['=', '$gpus', 1]), ['vcpus', 'gpu'])
    assert caught.value.details == {'name': 'gpus', 'near': 'gpu, vcpus', 'pool': 'resource'}


def test_the_error_lists_similar_names_first():
    known = [f'property_{number}' for number in range(40)] + ['gpu_model']
    with pytest.raises(errors.UnknownProperty) as caught:
        requirement.check_names(requirement.parse(['=', '$gpu_modell', 1]), known)
    near = caught.value.details['near'].split(', ')
    assert near[0] == 'gpu_model' and near[-1] == '…' and len(near) == 13


def test_a_name_that_is_near_to_none_is_not_said_to_be_near():
    known = [*(f'property_{number}' for number in range(13)), 'vcpus']
    with pytest.raises(errors.UnknownProperty) as caught:
        requirement.check_names(requirement.parse(['=', '$gpu', 1]), known)
    assert caught.value.message.startswith(
        'Criteria: no resource has a property "gpu". Known names: vcpus, property_0, property_1')
    assert 'Near' not in caught.value.message


def test_an_unknown_property_where_there_are_none_says_so():
    with pytest.raises(errors.UnknownProperty) as caught:
        requirement.check_names(requirement.parse(['=', '$gpu', 1]), [])
    assert 'there are none' in caught.value.message


def test_known_properties_pass():
    requirement.check_names(requirement.parse(['=', '$cores', 1]), {'vcpus'})


@pytest.mark.parametrize('wrong, says', [
    ('vcpus >= 4', 'not JSON'),
    ('[' * 100_000, 'more than 65536 characters'),
    ('[' * 60_000, 'not JSON'),
    ('9' * 5000, 'not JSON'),
    (5, 'a list is expected'),
    ('5', 'a list is expected'),
    ('"text"', 'a list is expected'),
    ({'a': 1}, 'a list is expected'),
    (False, 'a list is expected'),
    (b'[]', 'a list is expected'),
    ({1, 2}, 'a list is expected'),
    ([['=', '$a', 1]], 'must begin with one of'),
    (['~', '$a', 1], 'must begin with one of'),
    ([[], '$a', 1], 'must begin with one of'),
    (['=', '$a'], 'three items'),
    (['=', '$a', 1, 2], 'three items'),
    (['=', 'a', 1], 'begins with $'),
    (['=', 5, 1], 'begins with $'),
    (['=', '$', 1], 'a name has'),
    (['=', '$' + 'a' * 129, 1], 'a name has'),
    (['=', '$a', [1]], 'is no value'),
    (['=', '$a', float('nan')], 'is no value'),
    ('["=", "$a", 1e999]', 'is no value'),
    (['=', '$a', 2 ** 300], 'is no value'),
    (['=', '$a', 10 ** 5000], 'is no value'),
    ({10 ** 5000: [10 ** 5000]}, 'a list is expected'),
    (['=', '$a', 'half \ud83d'], 'is no value'),
    (['=', '$a', 'zero \0'], 'is no value'),
    (['and'], '"and" takes'),
    (['or'], '"or" takes'),
    (['not'], '"not" takes'),
    (['not', ['=', '$a', 1], ['=', '$a', 1]], 'exactly one'),
    (['and', []], 'a list is expected'),
    (['and', '["=", "$a", 1]'], 'a list is expected'),
    (['in', '$a'], 'one value or more'),
    (['in', '$a', []], 'values'),
    (['in', '$a', 'x', ['y']], 'is no value'),
    (['in', '$a', [1] * 1001], 'values'),
    (['in', '$trait:X', ['required']], 'no trait'),
    (['>', '$trait:X', 'required'], '"required" or "forbidden"'),
    (['=', '$trait:X', 'maybe'], '"required" or "forbidden"'),
    (['=', '$trait:', 'required'], '"required" or "forbidden"'),
    (['and', *[['=', '$a', 1]] * 201], 'more than 200 comparisons'),
])
def test_a_malformed_requirement_is_refused_with_the_reason(wrong, says):
    with pytest.raises(errors.MalformedRequirement) as caught:
        requirement.parse(wrong)
    assert says in caught.value.message
    assert len(caught.value.message) < 500
    caught.value.message.encode()


def test_the_part_that_is_wrong_is_shown_and_not_the_whole():
    with pytest.raises(errors.MalformedRequirement) as caught:
        requirement.parse(['and', ['=', '$a', 1], ['~', '$b', '🐍', None]])
    assert caught.value.details['part'] == '["~", "$b", "🐍", null]'


def nested(depth):
    value = ['=', '$a', 1]
    for _ in range(depth):
        value = ['not', value]
    return value


def test_nesting_has_a_bound():
    assert requirement.parse(nested(requirement.MAX_DEPTH - 1))
    with pytest.raises(errors.MalformedRequirement):
        requirement.parse(nested(requirement.MAX_DEPTH))
    with pytest.raises(errors.MalformedRequirement):
        requirement.parse(nested(100_000))


def test_a_list_that_contains_itself_is_refused():
    endless = ['and']
    endless.append(endless)
    with pytest.raises(errors.MalformedRequirement):
        requirement.parse(endless)


pieces = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=6),
    st.binary(max_size=3),
    st.sampled_from(['and', 'or', 'not', 'in', '==', '<', 'contains', '$vcpus', '$trait:X', '$',
                     '$capabilities:x', 'required', '\ud800', '𝔸🐍', 10 ** 4000]),
    st.sets(st.integers(), max_size=2), st.just(object()))
odd = st.recursive(pieces, lambda inner: st.one_of(
    st.lists(inner, max_size=4), st.lists(inner, max_size=3).map(tuple),
    st.dictionaries(st.one_of(st.text(max_size=3), st.integers(), st.just(10 ** 4000),
                              st.tuples(st.integers())), inner, max_size=2)),
    max_leaves=12)


@hypothesis.settings(max_examples=300)
@hypothesis.given(odd | st.text())
def test_any_input_is_either_read_or_refused_as_malformed(anything):
    try:
        read = requirement.parse(anything)
    except errors.MalformedRequirement as error:
        assert error.details['part'] and error.details['reason']
        error.message.encode()
        return
    assert requirement.parse(requirement.to_json(read)) == read
    assert isinstance(requirement.matches(read, {'vcpus': '4'}), bool)
    assert str(read)


@hypothesis.given(trees, hosts)
def test_matching_never_fails_whatever_the_host_says_of_itself(tree, host):
    assert isinstance(met(tree, **host), bool)


@pytest.mark.parametrize('character', ['\x1b', '\x07', '\x7f', '\x9b'])
def test_a_name_with_control_characters_is_refused_and_shown_escaped(character):
    with pytest.raises(errors.MalformedRequirement) as caught:
        requirement.parse(json.dumps(['>=', f'$gpu{character}[31m', '1']))
    assert 'no control characters' in caught.value.message
    assert character not in caught.value.message


def test_a_name_may_have_spaces_tabs_and_any_letters():
    assert met(['=', '$ünï\tcode 🐍', '1'], **{'ünï\tcode 🐍': '1'})


def test_a_name_is_found_in_any_form_of_unicode():
    assert met(['=', '$gro\u0308\u00dfe', '3'], größe='3')
