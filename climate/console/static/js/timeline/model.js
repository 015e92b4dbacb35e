// SPDX-License-Identifier: Apache-2.0
// The data of a timeline, arranged for drawing: rows of lanes and groups, and the bars of each lane.

import {seconds} from '../times.js';

/** The bars of one resource, ordered by start, each on a track so that none hides another. */
class Lane {
  constructor(resource) {
    this.resource = resource;
    this.starts = [];
    this.ends = [];
    this.kinds = [];
    this.statuses = [];
    this.leases = [];
    this.tracks = [];
    this.trackCount = 1;
    // The latest end of this and all earlier bars: where drawing may begin.
    this.reaches = [];
  }

  add(start, end, kind, status, lease, freeFrom) {
    let track = freeFrom.findIndex((moment) => moment <= start);
    if (track === -1) track = freeFrom.push(0) - 1;
    freeFrom[track] = end;
    this.trackCount = Math.max(this.trackCount, freeFrom.length);
    this.starts.push(start);
    this.ends.push(end);
    this.kinds.push(kind);
    this.statuses.push(status);
    this.leases.push(lease);
    this.tracks.push(track);
    this.reaches.push(Math.max(end, this.reaches.at(-1) ?? end));
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
    return {index, lane: this, start: this.starts[index], end: this.ends[index],
      kind: this.kinds[index], status: this.statuses[index], lease: this.leases[index],
      track: this.tracks[index]};
  }

  /** Return the bar at a moment and track, or null. */
  at(moment, track) {
    for (let index = this.firstAfter(moment); index < this.starts.length; index += 1) {
      if (this.starts[index] > moment) return null;
      if (this.ends[index] > moment && this.tracks[index] === track) return this.bar(index);
    }
    return null;
  }

  /** Return whether nothing is on the lane between two moments. */
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
    const {resource, start, end, kind, status, lease} = answer.bars;
    const freeFrom = this.lanes.map(() => []);
    for (let index = 0; index < resource.length; index += 1) {
      const place = resource[index];
      const until = end[index] === null ? this.end : this.start + end[index];
      this.lanes[place].add(this.start + start[index], until,
        answer.kinds[kind[index]], answer.statuses[status[index]] ?? null,
        answer.leases[lease[index]] ?? null, freeFrom[place]);
    }
    this.queue = {waiting: answer.waiting, more_wait: answer.more_wait};
    this.barCount = resource.length;
    this.properties = [...new Set(answer.resources.flatMap(
      (each) => Object.keys(each.properties)))].sort();
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
      groups.set(value, [...groups.get(value) ?? [], lane]);
    }
    return [...groups].sort(([one], [other]) => one.localeCompare(other, 'en', {numeric: true}))
      .flatMap(([group, members]) => [{group, count: members.length},
        ...members.map((lane) => ({lane}))]);
  }
}

function matches(lane, text) {
  const {id, name} = lane.resource;
  return (name ?? id).toLowerCase().includes(text)
    || lane.leases.some((lease) => lease?.name.toLowerCase().includes(text));
}
