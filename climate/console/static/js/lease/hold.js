// SPDX-License-Identifier: Apache-2.0
// Holds offers. If no answer comes, the offer may be held, so a repeated request searches for it
// first.

import {call} from '../rest.js';
import {t} from '../texts.js';
import {seconds} from '../times.js';

const held = async () => (await call('/offers')).body.offers;

/** Holds the first time at which a form fits, so that there is time to decide. */
export class Hold {
  constructor() { this.doubtful = null; }

  /**
   * Hold the first time; once, if the request is repeated after its answer was lost.
   *
   * @param {object} query - the reservations, the earliest start and the duration.
   * @returns {Promise<boolean>} whether it is held.
   * @throws {Problem}
   */
  async first(query) {
    const key = JSON.stringify(query);
    const offers = await held();
    if (this.doubtful?.key === key && offers.some((each) => this._isLost(each, query))) {
      this.doubtful = null;
      return true;
    }
    const known = new Set(offers.map(({id}) => id));
    try {
      const {body} = await call('/availability', {
        method: 'POST', body: {...query, hold: 1, limit: 1}});
      this.doubtful = null;
      return body.offers.some(({id}) => id);
    } catch (error) {
      if (!error.isOutage) throw error;
      this.doubtful = this.doubtful?.key === key ? this.doubtful : {key, known};
      error.message = `${error.message} ${t('offers.perhaps')}`;
      throw error;
    }
  }

  /** Return whether an offer is the one whose answer was lost. */
  _isLost({id, start, end, reservations}, query) {
    return !this.doubtful.known.has(id) && seconds(end) - seconds(start) === query.duration
      && reservations.length === query.reservations.length
      && reservations.every(({resource_type: type}, place) => (
        type === query.reservations[place].resource_type));
  }
}
