// SPDX-License-Identifier: Apache-2.0
// The reservations of a new lease, one card each.

import {element, make} from '../dom.js';
import {t} from '../texts.js';
import {ReservationFields} from './fields.js';

export class ReservationCards {
  /**
   * @param {object} schemas - {resource type: JSON schema of a new reservation}.
   * @param {function()} onChange - called after a reservation was added, changed or removed.
   */
  constructor(schemas, onChange) {
    this.schemas = schemas;
    this.onChange = onChange;
    this.cards = [];
    this.types = Object.keys(schemas).sort((one, other) => (
      typeWord(one).localeCompare(typeWord(other))));
  }

  /** Return the type that a form begins with; with a pool, one that takes resources from it. */
  firstType(pool) {
    const takes = (type) => !pool || this.schemas[type]['x-climate-pools']
      .some(({name}) => name === pool);
    const usual = 'physical:host';
    if (this.schemas[usual] && takes(usual)) return usual;
    return this.types.find(takes) ?? this.types[0];
  }

  /** Add a card; return its ReservationFields. */
  add(type, values = {}) {
    const select = make('select', {'aria-label': t('new.type')}, ...this.types
      .map((each) => make('option', {value: each}, typeWord(each))));
    select.value = type;
    const place = make('div');
    const card = {};
    const refill = (some) => {
      card.fields = new ReservationFields(select.value, this.schemas[select.value], some);
      place.replaceChildren(card.fields.node);
    };
    refill(values);
    select.addEventListener('change', () => { refill({}); this.onChange(); });
    const remove = this.cards.length ? make('button', {type: 'button', class: 'quiet',
      onclick: () => {
        this.cards.splice(this.cards.indexOf(card), 1);
        node.remove();
        this.onChange();
      }}, t('new.remove')) : null;
    const node = make('fieldset', {class: 'card'}, make('legend', {}, t('new.what')),
      make('div', {class: 'head'}, select, remove), place);
    this.cards.push(card);
    element('reservations').append(node);
    return card.fields;
  }

  /**
   * Return the reservations as POST /v1/leases takes them.
   *
   * @throws {BadField}
   */
  values() { return Promise.all(this.cards.map(({fields}) => fields.value())); }

  /** Set how many resources each reservation asks for. */
  setCounts(counts) {
    counts.forEach((count, place) => {
      for (const key of ['min', 'amount']) {
        const input = this.cards[place].fields.inputOf(key);
        if (input) input.value = count;
      }
    });
  }

  /** Count the choices of all criteria for a span; the parameters are those of CriteriaField. */
  async count(reservations, span, signal) {
    await Promise.all(this.cards.flatMap(({fields}, place) => [...fields.criteria.values()]
      .map((each) => each.count(reservations[place], span, signal))));
  }

  /** Return the input that an error of the service is about; undefined if none is. */
  inputOf({details = {}, code = ''}) {
    const key = code.includes('property') || code.includes('requirement')
      ? 'resource_properties' : String(details.field ?? '').split('.').at(-1);
    return this.inputNamed(key);
  }

  /** Return the first input of a key in any reservation; undefined if none has it. */
  inputNamed(key) { return this.cards.map(({fields}) => fields.inputOf(key)).find(Boolean); }

  /** Return the type of each reservation with the names of its pools. */
  taken() {
    return this.cards.map(({fields: {type}}) => ({type,
      pools: (this.schemas[type]['x-climate-pools'] ?? []).map(({name}) => name)}));
  }
}

export function typeWord(type) {
  const found = t(`type.${type}`);
  return found === `type.${type}` ? type : found;
}
