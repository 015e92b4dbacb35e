// SPDX-License-Identifier: Apache-2.0
// Suggestions for the criteria above a timeline: the values that exist in the pool, with counts.

import {call} from '../rest.js';
import {t} from '../texts.js';

const PLAIN = /^[\w.:-]+$/;

export class Suggestions {
  /**
   * @param {HTMLInputElement} input - has a <datalist>.
   * @param {function(): {pool: string, criteria: string}} filter - returns what the timeline shows.
   */
  constructor(input, filter) {
    this.input = input;
    this.filter = filter;
    this.facets = [];
    this.known = '';
    input.addEventListener('focus', () => this._read());
    input.addEventListener('input', () => {
      this._show();
      this._read();
    });
  }

  /** Read the values and their counts, unless they are those of the present filter. */
  async _read() {
    const {pool, criteria} = this.filter();
    const key = JSON.stringify([pool, criteria]);
    if (!pool || key === this.known) return;
    this.known = key;
    try {
      const {body} = await call(`/resources/${pool}/facets`, {query: {criteria}});
      if (key !== this.known) return;
      this.facets = body.facets;
      this._show();
    } catch {
      // Suggestions are only help: the next focus asks for them again.
      if (key === this.known) this.known = '';
    }
  }

  /** Offer each condition that can follow those which the field has. */
  _show() {
    const begun = this.input.value.match(/^(.*\s)?/)[0];
    const used = new Set(begun.split(/\s+/).map((part) => part.match(/^[^<>=!]+/)?.[0]));
    const options = this.facets.filter(({property}) => !used.has(property)).flatMap(
      ({property, values}) => values.filter(({matching}) => matching).map(({value, matching}) => {
        const quoted = PLAIN.test(value) ? value : JSON.stringify(value);
        return new Option(t('timeline.has_value', {count: matching}),
          `${begun}${property}=${quoted}`);
      }));
    this.input.list.replaceChildren(...options);
  }
}
