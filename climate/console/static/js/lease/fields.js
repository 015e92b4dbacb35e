// SPDX-License-Identifier: Apache-2.0
// Form fields from the schemas of resource types, as the OpenAPI document of climate-api has them.

import {make} from '../dom.js';
import {BadField} from '../problems.js';
import {t} from '../texts.js';
import {CriteriaField} from './criteria.js';

// Keys that are no fields, or that others beside them say better.
const LEFT_OUT = new Set(['resource_type', 'hypervisor_properties', 'extra_specs']);

/** The fields of one reservation. */
export class ReservationFields {
  /**
   * @param {string} type - the resource type.
   * @param {object} schema - its JSON schema.
   * @param {object} values - {key: value} to begin with.
   */
  constructor(type, schema, values = {}) {
    this.type = type;
    this.inputs = new Map();
    this.criteria = new Map();
    // Values of a repeated lease for which the form has no fields.
    this.kept = Object.fromEntries([...LEFT_OUT].filter((key) => key !== 'resource_type'
      && isGiven(values[key])).map((key) => [key, values[key]]));
    const first = schema.examples?.[0] ?? {};
    const main = make('div', {class: 'fields'});
    const more = make('div', {class: 'fields'});
    const [pool] = schema['x-climate-pools'] ?? [];
    for (const [key, field] of Object.entries(schema.properties)) {
      // Without criteria, "resource_properties" is a field of answers only.
      if (LEFT_OUT.has(key) || (key === 'resource_properties' && field.format !== 'criteria')) {
        continue;
      }
      const asked = (schema.required ?? []).includes(key);
      if (field.format === 'criteria' && pool) {
        this.criteria.set(key, new CriteriaField(key, values[key], pool));
        continue;
      }
      const input = inputOf(key, field, values[key] ?? (asked ? first[key] : undefined), asked);
      this.inputs.set(key, {input, field});
      const label = make('label', {}, t(`field.${key}`) === `field.${key}` ? words(key)
        : t(`field.${key}`), input, field.description ? make('small', {}, field.description)
        : null);
      (asked || key in first ? main : more).append(label);
    }
    this._tieCounts();
    this.node = make('div', {}, main, ...[...this.criteria.values()].map(({node}) => node),
      more.children.length
        ? make('details', {}, make('summary', {}, t('new.more')), more) : null);
  }

  /**
   * Return the reservation as POST /v1/leases takes it.
   *
   * @throws {BadField}
   */
  async value() {
    const found = {resource_type: this.type, ...this.kept};
    for (const [key, {input, field}] of this.inputs) {
      const text = input.value.trim();
      if (text !== '') found[key] = parsed(key, field, text, input);
    }
    for (const [key, criteria] of this.criteria) {
      const value = await criteria.value();
      if (value !== undefined) found[key] = JSON.stringify(value);
    }
    return found;
  }

  /** Return the input of a field, or of criteria; undefined if there is none. */
  inputOf(key) { return this.inputs.get(key)?.input ?? this.criteria.get(key)?.input; }

  /** Ask for resources by their names; without names, say that Climate chooses them. */
  chooseNames(names) {
    if (!names.length) this.node.append(make('p', {class: 'note'}, t('new.any_resources')));
    for (const criteria of this.criteria.values()) criteria.chooseNames(names);
    const addresses = this.inputOf('required_floatingips');
    if (addresses) addresses.value = names.join(', ');
  }

  /** The greatest number follows the least one until it was chosen itself. */
  _tieCounts() {
    const [least, most] = ['min', 'max'].map((key) => this.inputs.get(key)?.input);
    if (!least || !most) return;
    let tied = least.value === most.value;
    most.addEventListener('input', () => { tied = false; });
    least.addEventListener('input', () => {
      if (tied || Number(most.value) < Number(least.value)) most.value = least.value;
    });
  }
}

const isGiven = (value) => value !== undefined && value !== null && value !== ''
  && !(typeof value === 'object' && !Object.keys(value).length);

const kinds = (field) => [field.type ?? []].flat();

function inputOf(key, field, value, asked) {
  const common = {name: key, required: asked};
  if (field.enum || kinds(field).includes('boolean')) {
    const choices = field.enum?.filter((each) => each) ?? ['true', 'false'];
    const select = make('select', common, make('option', {value: ''}, '—'),
      ...choices.map((each) => make('option', {value: each}, String(each))));
    select.value = value === undefined || value === null ? '' : String(value);
    return select;
  }
  const shown = value === undefined || value === null ? ''
    : Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ')
      : typeof value === 'object' ? JSON.stringify(value) : String(value);
  if (kinds(field).includes('integer')) {
    return make('input', {...common, type: 'number', min: field.minimum, max: field.maximum,
      value: shown});
  }
  if (kinds(field).includes('object')) {
    const area = make('textarea', {...common, rows: 3, spellcheck: 'false'});
    area.value = shown;
    return area;
  }
  return make('input', {...common, value: shown, maxlength: field.maxLength,
    spellcheck: 'false'});
}

function parsed(key, field, text, input) {
  const allowed = kinds(field);
  if (allowed.includes('integer')) return Number(text);
  if (allowed.includes('boolean')) return text === 'true';
  if (allowed.includes('array')) return text.split(',').map((each) => each.trim()).filter(Boolean);
  if (allowed.includes('object')) {
    try {
      return JSON.parse(text);
    } catch (error) {
      if (allowed.includes('string')) return text;
      throw new BadField(t('new.not_json', {key, why: error.message}), input);
    }
  }
  return text;
}

const words = (key) => key.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
