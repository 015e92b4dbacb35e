// SPDX-License-Identifier: Apache-2.0
// Draws a timeline on a canvas.

import {t} from '../texts.js';

export const HEAD = 34;
export const ROW = 24;
const PADDING = 3;
const LABEL_LEAST = 46;
const STATES = ['mine', 'other', 'waiting', 'ended', 'attention', 'out', 'maintained', 'asleep'];
const COLOURS = ['ground', 'card', 'text', 'soft', 'line', 'accent', 'bad', 'now', 'hour',
  ...STATES, ...STATES.map((state) => `on-${state}`)];

const OF_KINDS = {maintenance: 'maintained', out_of_order: 'out', asleep: 'asleep', offer: 'waiting', others: 'other',
  several: 'other'};
const OF_STATUSES = {error: 'attention', timedout: 'attention', terminated: 'ended', deleting: 'ended',
  terminating: 'ended', in_progress: 'waiting'};

/** Return the name of the colour of a bar. */
const colourOf = (kind, status) => OF_KINDS[kind] ?? OF_STATUSES[status] ?? 'mine';

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', {alpha: false});
    this.readColours();
  }

  /** Read the colours of the style sheet; light and dark differ. */
  readColours() {
    const style = getComputedStyle(document.documentElement);
    this.colours = Object.fromEntries(COLOURS.map(
      (name) => [name, style.getPropertyValue(`--${name}`).trim()]));
    this.font = getComputedStyle(document.body).fontFamily;
  }

  /** Give the canvas the size of its place on the page; return its width without the labels. */
  fit(labels) {
    const {clientWidth, clientHeight} = this.canvas;
    const ratio = window.devicePixelRatio || 1;
    this.canvas.width = Math.round(clientWidth * ratio);
    this.canvas.height = Math.round(clientHeight * ratio);
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.width = clientWidth;
    this.height = clientHeight;
    this.labels = labels;
    return clientWidth - labels;
  }

  /**
   * Draw everything.
   *
   * @param {object} scene - scale, rows, scroll (in pixels), now, focus and hover (bars or null),
   *   and drag ({row, start, end}) or null.
   */
  draw(scene) {
    const {context, colours} = this;
    context.fillStyle = colours.card;
    context.fillRect(0, 0, this.width, this.height);
    const first = Math.max(0, Math.floor(scene.scroll / ROW));
    const last = Math.min(scene.rows.length,
      Math.ceil((scene.scroll + this.height - HEAD) / ROW));
    context.save();
    context.beginPath();
    context.rect(this.labels, HEAD, this.width - this.labels, this.height - HEAD);
    context.clip();
    this._grid(scene, first, last);
    for (let index = first; index < last; index += 1) {
      const row = scene.rows[index];
      if (row.lane) this._bars(scene, row.lane, HEAD + index * ROW - scene.scroll);
    }
    this._drag(scene);
    this._now(scene);
    context.restore();
    this._labels(scene, first, last);
    this._head(scene);
  }

  _grid({scale, rows, scroll}, first, last) {
    const {context, colours} = this;
    for (let index = first; index < last; index += 1) {
      const y = HEAD + index * ROW - scroll;
      if (rows[index].lane === undefined) {
        context.fillStyle = colours.hour;
        context.fillRect(this.labels, y, this.width, ROW);
      }
      context.fillStyle = colours.line;
      context.fillRect(this.labels, y + ROW - 1, this.width, 0.5);
    }
    for (const tick of scale.ticks()) {
      context.fillStyle = tick.strong ? colours.soft : colours.line;
      context.fillRect(this.labels + Math.round(scale.x(tick.moment)), HEAD, tick.strong ? 1 : 0.5,
        this.height);
    }
  }

  _bars({scale, focus, hover}, lane, top) {
    const {context, colours} = this;
    const height = (ROW - 2 * PADDING) / lane.trackCount;
    // What one pixel has is drawn once.
    const drawn = new Array(lane.trackCount).fill(-1);
    for (let index = lane.firstAfter(scale.start); index < lane.starts.length; index += 1) {
      if (lane.starts[index] >= scale.end) break;
      const track = lane.tracks[index];
      const left = Math.max(-2, scale.x(lane.starts[index]));
      const right = Math.min(scale.width + 2, scale.x(lane.ends[index]));
      if (right <= drawn[track]) continue;
      drawn[track] = Math.ceil(right);
      const x = this.labels + left;
      const y = top + PADDING + track * height;
      const width = Math.max(1, right - left - 0.5);
      const colour = colourOf(lane.kinds[index], lane.statuses[index]);
      context.globalAlpha = lane.kinds[index] === 'several' ? 0.6 : 1;
      context.fillStyle = colours[colour];
      context.fillRect(x, y, width, Math.max(1, height - 1));
      context.globalAlpha = 1;
      if (width > LABEL_LEAST && height > 11) {
        this._word(barWord(lane.kinds[index], lane.leases[index]), x + 5, y + height / 2, width - 10,
          colours[`on-${colour}`]);
      }
      const chosen = [focus, hover].some((bar) => bar?.lane === lane && bar.index === index);
      if (chosen) {
        context.strokeStyle = colours.text;
        context.lineWidth = 2;
        context.strokeRect(x, y, width, height - 1);
      }
    }
  }

  _word(text, x, y, width, colour) {
    const {context} = this;
    context.font = `12px ${this.font}`;
    context.textBaseline = 'middle';
    context.fillStyle = colour;
    const fits = Math.floor(width / 6.5);
    context.fillText(text.length > fits ? `${text.slice(0, Math.max(1, fits - 1))}…` : text, x, y);
  }

  _drag({scale, drag, scroll}) {
    if (!drag) return;
    const {context, colours} = this;
    const [start, end] = [Math.min(drag.start, drag.end), Math.max(drag.start, drag.end)];
    const x = this.labels + scale.x(start);
    const y = HEAD + Math.min(drag.row, drag.lastRow) * ROW - scroll;
    const height = (Math.abs(drag.lastRow - drag.row) + 1) * ROW;
    context.globalAlpha = 0.35;
    context.fillStyle = colours.accent;
    context.fillRect(x, y, scale.x(end) - scale.x(start), height);
    context.globalAlpha = 1;
    context.strokeStyle = colours.accent;
    context.strokeRect(x, y, scale.x(end) - scale.x(start), height);
  }

  _now({scale, now}) {
    const x = scale.x(now);
    if (x < 0 || x > scale.width) return;
    this.context.fillStyle = this.colours.now;
    this.context.fillRect(this.labels + x - 1, HEAD, 2, this.height);
  }

  _labels({rows, scroll, focusRow}, first, last) {
    const {context, colours} = this;
    context.fillStyle = colours.card;
    context.fillRect(0, HEAD, this.labels, this.height);
    context.save();
    context.beginPath();
    context.rect(0, HEAD, this.labels - 4, this.height);
    context.clip();
    for (let index = first; index < last; index += 1) {
      const y = HEAD + index * ROW - scroll;
      const row = rows[index];
      if (index === focusRow) {
        context.fillStyle = colours.hour;
        context.fillRect(0, y, this.labels, ROW);
      }
      const resource = row.lane?.resource;
      const text = resource ? rowWord(resource)
        : `${row.group || t('timeline.no_value')} (${row.count})`;
      context.fillStyle = resource && !resource.reservable ? colours.bad : colours.text;
      context.font = `${resource ? '' : 'bold '}13px ${this.font}`;
      context.textBaseline = 'middle';
      context.fillText(text, resource ? 14 : 6, y + ROW / 2);
    }
    context.restore();
    context.fillStyle = colours.line;
    context.fillRect(this.labels - 1, 0, 1, this.height);
  }

  _head({scale}) {
    const {context, colours} = this;
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, this.width, HEAD);
    context.fillStyle = colours.line;
    context.fillRect(0, HEAD - 1, this.width, 1);
    context.save();
    context.beginPath();
    context.rect(this.labels, 0, this.width, HEAD);
    context.clip();
    context.textBaseline = 'middle';
    for (const tick of scale.ticks()) {
      context.font = `${tick.strong ? 'bold ' : ''}12px ${this.font}`;
      context.fillStyle = tick.strong ? colours.text : colours.soft;
      context.fillText(tick.label, this.labels + scale.x(tick.moment) + 4, HEAD / 2);
    }
    context.restore();
  }
}

/** Return the words on a bar. */
export const barWord = (kind, lease) => lease?.name ?? t(`timeline.kind.${kind}`);

/** Return the words of a resource; members do not see names. */
export const rowWord = (resource) => resource.name ?? t('timeline.resource', {id: resource.id});
