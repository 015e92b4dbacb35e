// SPDX-License-Identifier: Apache-2.0
// Draws a timeline on a canvas.

import {Absences} from './absences.js';
import {Bars, boxOf} from './bars.js';
import {drawHead, drawLabels} from './frame.js';
import {HEAD, ROW} from './layout.js';
import {Palette} from './styles.js';
import {Measure, rowWord} from './words.js';

const LEAST_LABELS = 64;
const MOST_LABELS = 220;
// On a narrow page, the labels have at most this part of its width.
const LABELS_PART = 0.34;
const LABEL_PADDING = 24;
const TYPES = {bar: '12px', tick: '12px', strong: 'bold 12px', label: '13px', group: 'bold 13px'};

export class Painter {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', {alpha: false});
    this.bars = new Bars(this);
    this.absences = new Absences(this);
    this.barWidths = new Measure(this.context);
    this.labelWidths = new Measure(this.context);
    this.rowHeight = ROW - 1;
    this.readColours();
  }

  /** Read the colours of the style sheet; light and dark differ. */
  readColours() {
    this.palette = new Palette(this.context);
    this.colours = this.palette.plain;
    this.font = getComputedStyle(document.body).fontFamily;
    this.barWidths.reset();
    this.labelWidths.reset();
  }

  /** Give the canvas the size of its place on the page; return its width without the labels. */
  fit(rows) {
    const {clientWidth, clientHeight} = this.canvas;
    this.ratio = window.devicePixelRatio || 1;
    const [width, height] = [clientWidth, clientHeight].map(
      (each) => Math.round(each * this.ratio));
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    this.context.setTransform(this.ratio, 0, 0, this.ratio, 0, 0);
    this.width = clientWidth;
    this.height = clientHeight;
    this.labels = this._labelsWidth(rows);
    return clientWidth - this.labels;
  }

  _labelsWidth(rows) {
    this.type('label');
    const widest = rows.reduce((most, {lane}) => (
      lane ? Math.max(most, this.labelWidths.width(rowWord(lane.resource))) : most), 0);
    const most = Math.min(MOST_LABELS, this.width * LABELS_PART);
    return Math.round(Math.min(most, Math.max(LEAST_LABELS, widest + LABEL_PADDING)));
  }

  /** Set the font of a kind of text. */
  type(kind) {
    this.context.font = `${TYPES[kind]} ${this.font}`;
    this.context.textBaseline = 'middle';
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
    const shown = scene.rows.slice(first, last).map((row, place) => ({
      ...row, index: first + place, y: HEAD + (first + place) * ROW - scene.scroll}));
    const lanes = shown.filter((row) => row.lane);
    context.save();
    context.beginPath();
    context.rect(this.labels, HEAD, this.width - this.labels, this.height - HEAD);
    context.clip();
    this._grid(scene, shown);
    this.absences.draw(scene, lanes);
    this.bars.draw(scene.scale, lanes);
    this._outlines(scene, lanes);
    this._drag(scene);
    this._now(scene);
    context.restore();
    drawLabels(this, scene, shown);
    drawHead(this, scene);
  }

  _grid({scale}, shown) {
    const {context, colours} = this;
    for (const {lane, y} of shown) {
      if (!lane) {
        context.fillStyle = colours.hover;
        context.fillRect(this.labels, y, this.width, ROW);
      }
      context.fillStyle = colours.line;
      context.fillRect(this.labels, y + ROW - 1, this.width, 0.5);
    }
    for (const tick of scale.ticks()) {
      context.fillStyle = tick.strong ? colours.edge : colours.line;
      context.fillRect(this.labels + Math.round(scale.x(tick.moment)), HEAD, tick.strong ? 0.5 : 1,
        this.height);
    }
  }

  _outlines({scale, focus, hover}, lanes) {
    const {context, colours} = this;
    for (const bar of [focus, hover]) {
      const row = bar && lanes.find(({lane}) => lane === bar.lane);
      if (!row || bar.index < 0 && bar !== focus) continue;
      const {x, y, width, height} = bar.index < 0 ? this.absences.box(scale, bar, row.y)
        : boxOf(scale, {...bar, top: row.y});
      context.strokeStyle = colours.text;
      context.lineWidth = 2;
      context.strokeRect(this.labels + x, y, width, height);
    }
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
}
