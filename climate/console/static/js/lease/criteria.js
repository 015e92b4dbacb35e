// SPDX-License-Identifier: Apache-2.0
// The criteria of a reservation: choices with live counts, and further criteria as text.

import {fill, make} from '../dom.js';
import {BadField} from '../problems.js';
import {call} from '../rest.js';
import {t} from '../texts.js';
import {criteria as translate} from '../translations.js';

// A property with more values shows the others after a click.
const SHOWN = 12;

export class CriteriaField {
  /**
   * @param {string} key - the name of the field.
   * @param {string|Array|null} value - criteria to begin with, as JSON text or as a list.
   * @param {object} pool - {name, name_fact}.
   */
  constructor(key, value, pool) {
    this.pool = pool;
    this.chosen = new Map();
    this.facets = [];
    this.input = make('input', {name: key, spellcheck: 'false', placeholder: 'vcpus >= 16'});
    this.choices = make('div', {class: 'facets'});
    this.node = make('fieldset', {class: 'criteria'}, make('legend', {}, t('field.criteria')),
      this.choices, make('label', {}, t('field.more_criteria'), this.input,
        make('small', {}, t('field.criteria_help'))));
    this._begin(value);
    this._draw();
  }

  /** Choose resources by their names. */
  chooseNames(names) {
    if (names.length) this.chosen.set(this.pool.name_fact, new Set(names));
    this._draw();
  }

  /**
   * Return all criteria as POST /v1/leases takes them; undefined: there are none.
   *
   * @throws {BadField}
   */
  async value() {
    const {criteria, problem} = await translate(this.input.value);
    if (problem) throw new BadField(problem, this.input);
    const parts = [...this.chosen].filter(([, values]) => values.size).map(([name, values]) => (
      values.size === 1 ? ['==', `$${name}`, ...values] : ['in', `$${name}`, [...values]]));
    if (criteria) parts.push(JSON.parse(criteria));
    if (parts.length < 2) return parts[0];
    return ['and', ...parts];
  }

  /**
   * Count the choices.
   *
   * @param {object} reservation - as POST /v1/leases takes it.
   * @param {object} span - start, end and duration of the query.
   * @param {AbortSignal} signal
   */
  async count(reservation, span, signal) {
    const {body} = await call(`/resources/${this.pool.name}/facets`, {
      query: {...span, reservation: JSON.stringify(reservation)}, signal});
    this.facets = body.facets.filter((facet) => facet.values.length > 1
      || facet.values.some((each) => each.matching < body.total)
      || this.chosen.get(facet.property)?.size);
    this._draw();
  }

  /** Begin with criteria: what choices can say becomes chosen, the rest becomes text. */
  _begin(value) {
    const whole = typeof value === 'string' && value.trim() ? JSON.parse(value) : value;
    if (!whole?.length) return;
    const rest = [];
    for (const part of whole[0] === 'and' ? whole.slice(1) : [whole]) {
      const [sign, name, wanted] = part;
      const values = sign === 'in' && part.length === 3 ? [wanted].flat()
        : sign === '==' || sign === '=' ? [wanted] : null;
      const key = typeof name === 'string' ? name.slice(1) : null;
      if (!values || !key || key.includes(':') || this.chosen.has(key)) rest.push(part);
      else this.chosen.set(key, new Set(values.map(String)));
    }
    if (rest.length) {
      this.input.value = JSON.stringify(rest.length > 1 ? ['and', ...rest] : rest[0]);
    }
  }

  /** Show the choices; those that are there already stay, so that a click never misses one. */
  _draw() {
    const known = new Map(this.facets.map((facet) => [facet.property, facet]));
    const all = [...this.chosen].filter(([name, {size}]) => size && !known.has(name))
      .map(([name, values]) => ({property: name, kind: 'property',
        values: [...values].map((value) => ({value}))})).concat(this.facets)
      .map((facet) => ({...facet, values: this._withChosen(facet)}));
    const shape = JSON.stringify(all.map(({property, values}) => [
      property, values.map(({value}) => value)]));
    if (shape !== this.shape) this._drawAnew(all);
    this.shape = shape;
    for (const {property, values} of all) {
      for (const each of values) this._showCounts(property, each);
    }
  }

  /** Return the values of a facet, and those that are chosen although it does not list them. */
  _withChosen({property, values}) {
    const listed = new Set(values.map(({value}) => value));
    return [...values, ...[...this.chosen.get(property) ?? []]
      .filter((value) => !listed.has(value)).map((value) => ({value}))];
  }

  _drawAnew(all) {
    const focused = document.activeElement?.dataset.choice;
    const opened = new Set([...this.choices.querySelectorAll('details[open]')]
      .map((each) => each.dataset.name));
    const isFact = ({kind, property}) => kind === 'fact' && !this.chosen.get(property)?.size;
    const facts = all.filter(isFact);
    fill(this.choices, ...all.filter((facet) => !isFact(facet)).map((facet) => this._facet(facet)),
      facts.length ? make('details', {'data-name': ''},
        make('summary', {}, t('field.facts')), ...facts.map((facet) => this._facet(facet))) : null);
    for (const each of this.choices.querySelectorAll('details')) {
      each.open = opened.has(each.dataset.name);
    }
    if (focused) this.choices.querySelector(`[data-choice="${CSS.escape(focused)}"]`)?.focus();
  }

  _facet({property, values}) {
    const chips = values.map(({value}) => this._choice(property, value));
    return make('fieldset', {class: 'facet'}, make('legend', {}, wordOf(property)),
      ...chips.slice(0, SHOWN), chips.length > SHOWN ? make('details', {'data-name': property},
        make('summary', {}, t('field.more_values', {count: chips.length - SHOWN})),
        ...chips.slice(SHOWN)) : null);
  }

  _choice(property, value) {
    const box = make('input', {type: 'checkbox', checked: this.chosen.get(property)?.has(value),
      'data-choice': `${property}=${value}`, oninput: () => this._choose(property, value, box)});
    return make('label', {class: 'chip'}, box, value, make('small'));
  }

  _showCounts(property, {value, free, matching}) {
    const chip = this.choices.querySelector(
      `[data-choice="${CSS.escape(`${property}=${value}`)}"]`).closest('label');
    chip.classList.toggle('none', free === 0);
    chip.querySelector('small').textContent = free === undefined ? ''
      : t(matching ? 'field.free_of' : 'field.no_such', {free, matching});
  }

  _choose(property, value, box) {
    const values = this.chosen.get(property) ?? new Set();
    this.chosen.set(property, values);
    if (box.checked) values.add(value);
    else values.delete(value);
  }
}

function wordOf(property) {
  const found = t(`property.${property}`);
  return found === `property.${property}` ? property : found;
}
