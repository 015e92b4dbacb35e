// SPDX-License-Identifier: Apache-2.0
// Fields for moments and durations as people write them. Below each is how it is understood.

import {calm, make} from './dom.js';
import {BadField} from './problems.js';
import {t} from './texts.js';
import {exactDuration, fullWords, local, now, seconds, typed, zoneName} from './times.js';
import {duration as askDuration, moment as askMoment} from './translations.js';
import {onZone} from './zones.js';

const PAUSE_MS = 200;
// These texts mean the same in every zone.
const WITHOUT_ZONE = /^\s*(now|\+.*|in .*|.* from now|.* ago)\s*$/i;

/** What moments and durations have in common. */
class TimeField {
  constructor(input) {
    this.input = input;
    this.note = input.closest('.field').querySelector('small');
    this.help = this.note.textContent;
    this.listeners = [];
    this.key = '';
    this.found = Promise.resolve(null);
    const soon = calm(() => this.refresh(), PAUSE_MS);
    input.addEventListener('input', soon);
    this.refresh();
  }

  /** Empty another field when this one is filled, and the other way round. */
  excludes(other) {
    for (const [field, emptied] of [[this, other], [other, this]]) {
      field.input.addEventListener('input', () => {
        if (field.input.value && emptied.input.value) emptied.fill('');
      });
    }
  }

  /** Call a function when the field is understood in another way. */
  onChange(action) { this.listeners.push(action); }

  /** Fill the field with a text, as if the user had typed it. */
  fill(text) {
    this.input.value = text;
    this.input.dispatchEvent(new Event('input', {bubbles: true}));
    return this.refresh();
  }

  /**
   * Return what the field means: null if it is empty.
   *
   * @throws {BadField}
   */
  async value() {
    const found = await this.refresh();
    if (found?.problem) throw new BadField(found.problem, this.input);
    return found;
  }

  /** Understand the text again if it, or what it depends on, has changed. */
  async refresh() {
    const text = this.input.value.trim();
    const key = text && JSON.stringify([text, ...await this.context()]);
    if (key !== this.key) {
      this.key = key;
      this.found = text ? this.ask(text) : Promise.resolve(null);
      const found = await this.found;
      if (key === this.key) {
        if (found?.passing) this.key = null;
        this.show(found);
      }
    }
    return this.found;
  }

  /** Say again how the field is understood, with what has changed around it. */
  again() { this.show(this.last); }

  show(found) {
    this.last = found;
    this.note.textContent = found?.problem ?? (found ? this.echo(found) : this.help);
    this.note.classList.toggle('problem', Boolean(found?.problem));
    // A refusal was about what the field said before.
    this.input.closest('.field').querySelector('.refusal')?.remove();
    if (found?.problem) this.input.setAttribute('aria-invalid', 'true');
    else this.input.removeAttribute('aria-invalid');
    for (const listener of this.listeners) listener(found);
  }
}

/** A field for a moment; its value is {moment, wire, note}, where `wire` is sent. */
export class MomentField extends TimeField {
  /**
   * @param {HTMLInputElement} input - of the macro "moment" of time_fields.html, or of `momentNode`.
   * @param {?(MomentField|string)} after - the field, or the ISO text, of the moment that a time of
   *   day here follows.
   */
  constructor(input, after = null) {
    super(input);
    this.after = after;
    after?.onChange?.(() => this.refresh());
    onZone(() => this._keepMoment());
    const picker = input.parentElement.querySelector('[type=datetime-local]');
    input.parentElement.querySelector('button').addEventListener('click', async () => {
      const found = await this.found;
      picker.value = local(found?.moment ? seconds(found.moment) : now());
      picker.showPicker();
    });
    picker.addEventListener('change', () => this.fill(picker.value.replace('T', ' ')));
  }

  async context() { return [zoneName(), await this._first()]; }

  async ask(text) { return askMoment(text, await this._first()); }

  /** Return the ISO text of the moment that a time of day follows; null: now. */
  async _first() {
    if (typeof this.after === 'string') return this.after;
    return (await this.after?.found)?.moment ?? null;
  }

  echo({moment, note}) { return `${fullWords(seconds(moment))}. ${note}`; }

  /** Write the moment in the zone that was chosen now. */
  async _keepMoment() {
    const found = await this.found;
    if (found?.moment && !WITHOUT_ZONE.test(this.input.value)) {
      this.input.value = typed(seconds(found.moment));
    }
    await this.refresh();
  }
}

/** A field for a duration; its value is {seconds}. */
export class DurationField extends TimeField {
  /**
   * @param {HTMLInputElement} input - of the macro "duration" of time_fields.html, or of `durationNode`.
   * @param {?function(): ?number} from - returns the moment from which it counts.
   */
  constructor(input, from = null) {
    super(input);
    this.from = from;
    onZone(() => this.again());
  }

  async context() { return []; }

  ask(text) { return askDuration(text); }

  echo({seconds: length}) {
    const start = this.from?.();
    return start ? t('time.until', {length: exactDuration(length), end: fullWords(start + length)})
      : exactDuration(length);
  }
}

/**
 * Make the elements of a field for a moment, as the macro "moment" does.
 *
 * @param {object} texts - name, label, value, help.
 */
export function momentNode({name, label, value = '', help = ''}) {
  return fieldOf({name, label: `${label} (${zoneName()})`, help}, make('span', {class: 'when'},
    inputOf(name, value),
    make('button', {type: 'button', class: 'quiet',
      'aria-label': t('time.pick', {field: label})}, '▾'),
    make('input', {type: 'datetime-local', tabindex: '-1', 'aria-hidden': 'true'})));
}

/** Make the elements of a field for a duration, as the macro "duration" does. */
export const durationNode = ({name, label, value = '', help = ''}) => fieldOf(
  {name, label, help}, inputOf(name, value));

const inputOf = (name, value) => make('input', {id: `${name}-text`, name, value,
  autocomplete: 'off', spellcheck: 'false', 'aria-describedby': `${name}-understood`});

const fieldOf = ({name, label, help}, input) => make('div', {class: 'field'},
  make('label', {for: `${name}-text`}, label), input,
  make('small', {id: `${name}-understood`, 'aria-live': 'polite'}, help));
