# SPDX-License-Identifier: Apache-2.0
"""The reader of YAML: what it returns, and what it refuses."""
import time

import pytest

from climate import yaml_text


@pytest.mark.parametrize(('text', 'expected'), [
    ('', None), ('# nothing', None), ('a', 'a'), ('{"a": [1, 1.50, null, true, "x"]}', {
        'a': ['1', '1.50', 'null', 'true', 'x']}),
    ('a: 18:00\nb: 2001-99-99\nc: 0777\nd: ~\ne:', {
        'a': '18:00', 'b': '2001-99-99', 'c': '0777', 'd': '~', 'e': ''}),
    ('a: &x {b: c}\nd: *x\ne: [*x, *x]', {
        'a': {'b': 'c'}, 'd': {'b': 'c'}, 'e': [{'b': 'c'}, {'b': 'c'}]}),
    ('a: "<<"\nb: \'<<\'', {'a': '<<', 'b': '<<'}), ('a: |\n  x\n  y\n', {'a': 'x\ny\n'}),
    ('!!str a: !!int 1', {'a': '1'}), ('---\na\n...', 'a')])
def test_a_document_is_read_as_texts_lists_and_dicts(text, expected):
    assert yaml_text.read(text) == expected


@pytest.mark.parametrize(('text', 'reason'), [
    ('a: [', 'not YAML'), ('\x00', 'not YAML'), ('a: &x 1\n<<: *x', 'merge key'),
    ('a: &x {}\nb: {<<: [*x, *x]}', 'merge key'), ('[<<]', 'merge key'),
    ('!!merge x: {}', 'merge key'), ('!<tag:yaml.org,2002:merge> x: {}', 'merge key'),
    ('a: 1\na: 2', '"a" is given twice'), ('[{a: {b: 1, "b": 2}}]', '"b" is given twice'),
    ('*x', 'refers to nothing'), ('a: &x [*x]', 'refers to nothing'), ('? [a]\n: b', 'use text'),
    ('{{}: a}', 'use text'), ('a\n---\nb', 'several documents'), ('[' * 51 + ']' * 51, 'too deep'),
    ('[' * 20000, 'deep|nest'), ('{a: ' * 20000, 'deep|nest'), ('- ' * 20000, 'deep|nest'),
    ('? ' * 20000, 'deep|nest'), ('\ud800', 'not YAML'), ('a' * (yaml_text.LONGEST + 1), 'at most'),
    ('a: &x ' + 'y' * 1000 + '\nb: [' + '*x, ' * 1000 + ']', 'aliases stand for')])
def test_a_text_that_costs_more_than_its_length_is_refused_with_a_reason(text, reason):
    with pytest.raises(ValueError, match=reason) as refused:
        yaml_text.read(text)
    assert len(str(refused.value)) < 300


def test_aliases_of_aliases_are_bounded_before_anything_is_built():
    for width, levels in ((2, 40), (10, 9), (100, 5)):
        text = 'a0: &a0 [x]\n' + ''.join(
            f'a{level}: &a{level} [{", ".join([f"*a{level - 1}"] * width)}]\n'
            for level in range(1, levels))
        begun = time.process_time()
        with pytest.raises(ValueError, match='aliases stand for'):
            yaml_text.read(text)
        assert time.process_time() - begun < 0.5


def test_fifty_levels_and_the_longest_text_are_read():
    assert yaml_text.read('[' * 50 + ']' * 50) is not None
    assert len(yaml_text.read('a' * yaml_text.LONGEST)) == yaml_text.LONGEST
    flat = ','.join(str(number) for number in range(40000))
    assert len(yaml_text.read(f'{{{flat}}}')) == 40000


@pytest.mark.parametrize(('text', 'expected'), [
    ('a: {default: b, c: d}\ndefault:\n- e\n- {f: [g]}\nh: i', 'b e f g'),
    ('{"default": "a", "b": {"default": 1.50}}', 'a 1.50'),
    ('a: &x {default: b}\nc: {<<: *x}\nc: {default: d}\ne: &y f\ng: {default: *y}', 'b d f'),
    ('x: default\ndefault: b', 'default b'), ('default: a\nb: [', 'a'),
    ('default: ' + '[' * 20000, ''),
    ('default: a\n---\ndefault: b', 'a b'), ('default: ' + 'x' * 400_000, 'x' * 400_000),
    ('\x00', ''), ('', '')])
def test_the_scalars_of_a_key_are_found_in_texts_that_are_refused(text, expected):
    assert ' '.join(yaml_text.scalars_of(text, 'default')) == expected


@pytest.mark.proof
def test_pyyaml_without_libyaml_reads_and_refuses_the_same(monkeypatch):
    import yaml
    texts = ['a: &x {b: c}\nd: *x', '{"a": [1, null]}', '[' * 20000, '- ' * 20000, 'a: [', '\x00',
             'a: {<<: {}}', '[<<]', '*x', 'a\n---\nb', 'a: "<<"']

    def outcome(text):
        try:
            return yaml_text.read(text)
        except ValueError as error:
            return str(error).partition(':')[0]
    with_c = [outcome(text) for text in texts]
    monkeypatch.setattr(yaml_text, '_LOADER', yaml.BaseLoader)
    assert [str(outcome(text))[:15] for text in texts] == [str(each)[:15] for each in with_c]
