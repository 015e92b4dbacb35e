# SPDX-License-Identifier: Apache-2.0
"""Extra specs as criteria, with the meaning that Nova gives to their operators."""
import hypothesis
from hypothesis import strategies as st
import pytest

from climate import errors
from climate.domain import extra_specs
from climate.domain import requirement


def meets(spec, value):
    read = extra_specs.from_extra_specs({'capabilities:x': spec})
    return requirement.matches(read, {'x': value})


@pytest.mark.parametrize('spec, met, missed', [
    ('= 8', 16, 4),
    ('= 8', '8', '7.5'),
    ('>= 8', '16', '4'),
    ('<= 8', 8, 16),
    ('== 8', '8.0', 16),
    ('!= 8', 16, '8.0'),
    ('== 8', 8, 'eight'),
    ('s== 8', '8', '8.0'),
    ('s!= 8', '8.0', '8'),
    ('s< b', 'a', 'b'),
    ('s<= b', 'b', 'c'),
    ('s> 16', '8', '15'),
    ('s>= b', 'b', 'a'),
    ('<in> gcc', 'has gcc in it', 'clang'),
    ('<in> avx', ['avx', 'sse'], ['avx2']),
    ('<all-in> avx sse', ('sse', 'avx'), ['avx']),
    ('<all-in> aes mmx', 'mmx aes', 'aes'),
    ('<or> fpu <or> gpu', 'gpu', 'fpu gpu'),
    ('<or> 8', '8', '8.0'),
    ('A100', 'A100', 'a100'),
    ('8', 8, '8.0'),
    ('Xeon Gold', 'Xeon Gold', 'Xeon'),
    ('', '', 'x'),
])
def test_an_operator_means_what_it_means_to_nova(spec, met, missed):
    assert meets(spec, met)
    assert not meets(spec, missed)


@pytest.mark.parametrize('spec', ['= 1', '!= 1', 's!= a', '<in> a', '<or> a', 'a', ''])
def test_a_host_without_the_capability_is_never_chosen(spec):
    assert not requirement.matches(extra_specs.from_extra_specs({'x': spec}), {})


def test_a_key_may_stand_without_its_scope():
    assert extra_specs.from_extra_specs({'ram': '>= 8'}) == (
        extra_specs.from_extra_specs({'capabilities:memory_mb': '>= 8'}))


def test_every_spec_has_to_be_met():
    read = extra_specs.from_extra_specs({'vcpus': '>= 8', 'capabilities:gpu': 'A100'})
    assert [str(part) for part in requirement.criteria(read)] == ['vcpus >= 8', 'gpu s== A100']


def test_no_specs_ask_for_nothing():
    assert extra_specs.from_extra_specs({}) == requirement.NOTHING


@pytest.mark.parametrize('word, traits, met', [
    ('required', {'HW_A'}, True), ('required', {'HW_AB'}, False),
    ('forbidden', {'HW_A'}, False), ('forbidden', {'HW_AB'}, True)])
def test_a_trait_is_required_or_forbidden(word, traits, met):
    read = extra_specs.from_extra_specs({'trait:HW_A': word})
    assert requirement.matches(read, {'traits': frozenset(traits)}) == met


@pytest.mark.parametrize('key, value, says', [
    ('hw:cpu_policy', 'dedicated', 'scope "hw"'),
    ('resources:VCPU', '1', 'scope "resources"'),
    ('trait:HW_A', 'perhaps', '"required" or "forbidden"'),
    ('capabilities:', '1', 'a name has'),
    ('vcpus', '>= many', 'compares numbers'),
    ('vcpus', '>=', 'exactly one word'),
    ('vcpus', '>= 4 8', 'exactly one word'),
    ('vcpus', '>=4', 'then a space'),
    ('vcpus', '< 4', 'is not an operator'),
    ('vcpus', 's==4', 'then a space'),
    ('gpu', '<or>', 'alternatives'),
    ('gpu', '<or> a b', 'alternatives'),
    ('gpu', '<or> a <or>', 'alternatives'),
    ('gpu', '<in>', 'exactly one word'),
    ('gpu', '<all-in>', 'one or more'),
    ('gpu', 7, 'must be text'),
])
def test_a_malformed_value_is_refused_with_its_key_and_the_reason(key, value, says):
    with pytest.raises(errors.BadField) as caught:
        extra_specs.from_extra_specs({key: value})
    assert key in caught.value.message
    assert says in caught.value.message


words = st.sampled_from(['=', '==', '>=', 's==', 's<', '<in>', '<all-in>', '<or>', '4', 'a', '🐍',
                         '<', '', '\ud800', '\0'])
specs = st.dictionaries(st.text(max_size=8) | st.sampled_from(['x', 'capabilities:x', 'trait:X']),
                        st.lists(words, max_size=5).map(' '.join) | st.text(max_size=8),
                        max_size=3)


@hypothesis.given(specs)
def test_any_specs_are_either_read_or_refused_as_a_bad_field(given):
    try:
        read = extra_specs.from_extra_specs(given)
    except errors.BadField:
        return
    assert requirement.parse(requirement.to_json(read)) == read
