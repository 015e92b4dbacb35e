// SPDX-License-Identifier: Apache-2.0
// Form fields from the schemas of resource types, as the OpenAPI document of climate-api has them.

import {criteria as translate} from '../translations.js';
import {make} from '../dom.js';
import {t} from '../texts.js';

// Keys that are no fields, or that others beside them say better.
const LEFT_OUT = new Set(['resource_type', 'hypervisor_properties', 'extra_specs']);

/** Thrown where a field has a value that cannot be meant; the message is for people. */
export class BadField extends Error {}

/** The fields of one reservation. */
export class ReservationFields {
  /**
   * @param {string} type - the resource type.
   * @param {object} schema - its JSON schema.
   * @param {object} values - {key: text} to begin with.
   */
  constructor(type, schema, values = {}) {
    this.type = type;
    this.inputs = new Map();
    const first = schema.examples?.[0] ?? {};
    const main = make('div', {class: 'fields'});
    const more = make('div', {class: 'fields'});
    for (const [key, field] of Object.entries(schema.properties)) {
      if (LEFT_OUT.has(key)) continue;
      const asked = (schema.required ?? []).includes(key);
      const input = inputOf(key, field, values[key] ?? (asked ? first[key] : undefined), asked);
      this.inputs.set(key, {input, field});
      const label = make('label', {}, t(`field.${key}`) === `field.${key}` ? words(key)
        : t(`field.${key}`), input, field.description ? make('small', {},
        field.format === 'criteria' ? t('field.criteria_help') : field.description) : null);
      (asked || key in first || field.format === 'criteria' ? main : more).append(label);
    }
    this.node = make('div', {}, main, more.children.length
      ? make('details', {}, make('summary', {}, t('new.more')), more) : null);
  }

  /**
   * Return the reservation as POST /v1/leases takes it.
   *
   * @throws {BadField}
   */
  async value() {
    const found = {resource_type: this.type};
    for (const [key, {input, field}] of this.inputs) {
      const text = input.value.trim();
      if (text !== '') found[key] = await parsed(key, field, text);
    }
    return found;
  }
}

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
  return make('input', {...common, value: shown, maxlength: field.maxLength, spellcheck: 'false',
    placeholder: field.format === 'criteria' ? 'vcpus>=16' : undefined});
}

async function parsed(key, field, text) {
  if (field.format === 'criteria') {
    const {criteria, problem} = await translate(text);
    if (problem) throw new BadField(problem);
    return criteria;
  }
  const allowed = kinds(field);
  if (allowed.includes('integer')) return Number(text);
  if (allowed.includes('boolean')) return text === 'true';
  if (allowed.includes('array')) return text.split(',').map((each) => each.trim()).filter(Boolean);
  if (allowed.includes('object')) {
    try {
      return JSON.parse(text);
    } catch (error) {
      if (allowed.includes('string')) return text;
      throw new BadField(t('new.not_json', {key, why: error.message}));
    }
  }
  return text;
}

const words = (key) => key.replaceAll('_', ' ').replace(/^./, (letter) => letter.toUpperCase());
