// SPDX-License-Identifier: Apache-2.0
// The data of a timeline, arranged for drawing: rows of lanes and groups, and bars of lanes.

import {seconds} from '../times.js';
import {fillOf, fillOfOwner, patternOf, stateOf} from './styles.js';

const ABSENCES = new Set(['maintenance', 'out_of_order', 'asleep']);

/**
 * The bars of one resource, ordered by start, each on a track so that none hides another. Absences
 * lie behind the bars.
 */
class Lane {
  constructor(resource) {
    this.resource = resource;
    this.absences = [];
    this.kinds = [];
    this.statuses = [];
    this.leases = [];
    this.trackCount = 1;
  }

  /** Take the columns of the lane out of those of the model. */
  take(columns, from, to) {
    for (const [name, column] of Object.entries(columns)) this[name] = column.subarray(from, to);
    const freeFrom = [];
    let reach = -Infinity;
    for (let index = 0; index < this.starts.length; index += 1) {
      let track = 0;
      while (freeFrom[track] > this.starts[index]) track += 1;
      freeFrom[track] = this.ends[index];
      this.tracks[index] = track;
      reach = Math.max(reach, this.ends[index]);
      this.reaches[index] = reach;
    }
    this.trackCount = Math.max(1, freeFrom.length);
  }

  /** Return the index of the first bar that may reach beyond a moment. */
  firstAfter(moment) {
    let low = 0;
    let high = this.reaches.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.reaches[middle] > moment) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  bar(index) {
    return {index, lane: this, start: this.starts[index], end: this.ends[index], open: false,
      kind: this.kinds[index], status: this.statuses[index], lease: this.leases[index],
      track: this.tracks[index]};
  }

  /** Return the bar at a moment and track, or the absence behind it, or null. */
  at(moment, track) {
    for (let index = this.firstAfter(moment); index < this.starts.length; index += 1) {
      if (this.starts[index] > moment) break;
      if (this.ends[index] > moment && this.tracks[index] === track) return this.bar(index);
    }
    return null;
  }

  absenceAt(moment) {
    return this.absences.find(({start, end}) => start <= moment && moment < end) ?? null;
  }

  /** Return whether no bar is on the lane between two moments. */
  isFree(start, end) {
    const first = this.firstAfter(start);
    return first === this.starts.length || this.starts[first] >= end;
  }
}

export class Model {
  /** @param {object} answer - the "timeline" of GET /v1/timeline. */
  constructor(answer) {
    this.start = seconds(answer.start);
    this.end = seconds(answer.end);
    this.lanes = answer.resources.map((resource) => new Lane(resource));
    this.queue = {waiting: answer.waiting, more_wait: answer.more_wait};
    this.barCount = answer.bars.resource.length;
    this.properties = [...new Set(answer.resources.flatMap(
      (each) => Object.keys(each.properties)))].sort();
    this._read(answer);
  }

  _read({bars, kinds, statuses, leases}) {
    const count = this.barCount;
    const columns = {starts: new Float64Array(count), ends: new Float64Array(count),
      reaches: new Float64Array(count), tracks: new Uint16Array(count),
      fills: new Uint8Array(count), patterns: new Uint8Array(count)};
    let [from, to] = [0, 0];
    for (let index = 0; index < count; index += 1) {
      const place = bars.resource[index];
      const lane = this.lanes[place];
      const start = this.start + bars.start[index];
      const open = bars.end[index] === null;
      const end = open ? this.end : this.start + bars.end[index];
      const kind = kinds[bars.kind[index]];
      if (ABSENCES.has(kind)) {
        lane.absences.push({index: -1 - lane.absences.length, lane, start, end, open, kind,
          status: null, lease: null, track: 0});
      } else {
        const status = statuses[bars.status[index]] ?? null;
        columns.starts[to] = start;
        columns.ends[to] = end;
        columns.patterns[to] = patternOf(kind, status);
        lane.kinds.push(kind);
        lane.statuses.push(status);
        lane.leases.push(leases[bars.lease[index]] ?? null);
        to += 1;
      }
      // The bars of a lane follow each other.
      if (bars.resource[index + 1] !== place) {
        lane.take(columns, from, to);
        from = to;
      }
    }
    for (const lane of this.lanes) if (!lane.starts) lane.take(columns, 0, 0);
  }

  /**
   * Give the bars their colours.
   *
   * @param {string} by - '': their states; 'project_id' or 'user_id': their owners.
   * @returns {Array<string>} the owners, in the order of their colours.
   */
  colour(by) {
    const owners = new Map();
    for (const lane of this.lanes) {
      for (let index = 0; index < lane.starts.length; index += 1) {
        const owner = by ? lane.leases[index]?.[by] : undefined;
        if (owner && !owners.has(owner)) owners.set(owner, fillOfOwner(owners.size));
        lane.fills[index] = owners.get(owner)
          ?? fillOf(stateOf(by ? 'others' : lane.kinds[index], lane.statuses[index]));
      }
    }
    return [...owners.keys()];
  }

  /**
   * Return the rows to show: [{lane}] or [{group, count}].
   *
   * @param {string} groupBy - the name of a property; '': no groups.
   * @param {string} text - only lanes that have it in their name, or in that of a lease.
   */
  rows(groupBy, text) {
    const wanted = text.trim().toLowerCase();
    const lanes = this.lanes.filter((lane) => !wanted || matches(lane, wanted));
    if (!groupBy) return lanes.map((lane) => ({lane}));
    const groups = new Map();
    for (const lane of lanes) {
      const value = lane.resource.properties[groupBy] ?? '';
      if (!groups.has(value)) groups.set(value, []);
      groups.get(value).push(lane);
    }
    return [...groups].sort(([one], [other]) => one.localeCompare(other, 'en', {numeric: true}))
      .flatMap(([group, members]) => [{group, count: members.length},
        ...members.map((lane) => ({lane}))]);
  }
}

function matches(lane, text) {
  const {id, name} = lane.resource;
  return (name ?? id).toLowerCase().includes(text) || lane.leases.some((lease) => lease
    && [lease.name, lease.project_id, lease.user_id, lease.project_name, lease.user_name].some(
      (word) => word?.toLowerCase().includes(text)));
}
