// SPDX-License-Identifier: Apache-2.0
// Draws the bars of a timeline: their colours, their lines and their words.

import {PADDING, trackHeight} from './layout.js';
import {Strips} from './strips.js';
import {barWord, ownerWord} from './words.js';

// Narrower bars have no gap to the next one, no lines and no word, in pixels.
const GAP_LEAST = 3;
const LINES_LEAST = 20;
const WORD_LEAST = 46;
// Lower bars have no word.
const WORD_HEIGHT = 11;
const EDGE = 2;
const INDENT = 5;
const OWNER_GAP = 16;

export class Bars {
  /** @param {Painter} painter */
  constructor(painter) {
    this.painter = painter;
    this.strips = new Strips();
  }

  /** Draw the bars of some lanes, [{lane, y}]. */
  draw(scale, lanes) {
    const tracks = lanes.reduce((sum, {lane}) => sum + lane.trackCount, 0);
    if (!tracks) return;
    this.strips.begin(Math.round(scale.width * this.painter.ratio), tracks);
    this._colours(scale, lanes);
    this.strips.end();
    this._stretch(scale, lanes);
    const detailed = this._detailed(scale, lanes);
    const boxes = detailed.map((bar) => boxOf(scale, bar));
    this._lines(detailed, boxes);
    this._words(detailed, boxes);
  }

  /** Draw the colours of all bars, each track as one line of pixels. */
  _colours(scale, lanes) {
    const {strips, painter: {palette: {fillPixels, edgePixels}, ratio}} = this;
    const zoom = ratio / scale.secondsPerPixel;
    const least = GAP_LEAST * ratio;
    let base = 0;
    for (const {lane} of lanes) {
      const {starts, ends, fills, tracks} = lane;
      for (let index = lane.firstAfter(scale.start); index < starts.length; index += 1) {
        const from = (starts[index] - scale.start) * zoom;
        if (from >= strips.width) break;
        const end = (ends[index] - scale.start) * zoom;
        strips.add(base + tracks[index], from, end - from > least ? end - ratio : end,
          fillPixels[fills[index]], edgePixels[fills[index]]);
      }
      base += lane.trackCount;
    }
  }

  _stretch(scale, lanes) {
    const {context, labels: x} = this.painter;
    context.imageSmoothingEnabled = false;
    let base = 0;
    for (const {lane, y: top} of lanes) {
      const height = trackHeight(lane);
      const edge = Math.min(EDGE, height / 4);
      for (let track = 0; track < lane.trackCount; track += 1) {
        this.strips.draw(context, base + track, {
          x, y: top + PADDING + track * height, width: scale.width, height: height - 1 - edge, edge});
      }
      base += lane.trackCount;
    }
  }

  /** Return the bars in sight that are wide enough for details, [{lane, index, top}]. */
  _detailed(scale, lanes) {
    const least = LINES_LEAST * scale.secondsPerPixel;
    const found = [];
    for (const {lane, y: top} of lanes) {
      const {starts, ends} = lane;
      for (let index = lane.firstAfter(scale.start); index < starts.length; index += 1) {
        if (starts[index] >= scale.end) break;
        if (ends[index] - starts[index] >= least && ends[index] > scale.start) {
          found.push({lane, index, top});
        }
      }
    }
    return found;
  }

  /** Draw the lines of all bars of a colour and a pattern at once. */
  _lines(detailed, boxes) {
    const {context, palette, labels} = this.painter;
    const batches = new Map();
    for (const [place, {lane, index}] of detailed.entries()) {
      const lines = palette.lines(lane.fills[index], lane.patterns[index]);
      if (!lines) continue;
      if (!batches.has(lines)) batches.set(lines, []);
      batches.get(lines).push(boxes[place]);
    }
    for (const [lines, batch] of batches) {
      context.beginPath();
      for (const {x, y, width, height} of batch) {
        // Whole pixels are filled faster.
        context.rect(Math.round(labels + x), y, Math.round(width), height - EDGE);
      }
      context.fillStyle = lines;
      context.fill();
    }
  }

  _words(detailed, boxes) {
    this.painter.type('bar');
    for (const [place, {lane, index}] of detailed.entries()) {
      const {width, height} = boxes[place];
      if (width >= WORD_LEAST && height >= WORD_HEIGHT) this._word(lane, index, boxes[place]);
    }
  }

  _word(lane, index, {x, y, width, height}) {
    const {context, palette, labels, barWidths} = this.painter;
    const fill = lane.fills[index];
    const room = width - 2 * INDENT;
    const owner = ownerWord(lane.leases[index]);
    let text = barWidths.start(barWord(lane.kinds[index], lane.leases[index]), room);
    if (owner && barWidths.width(text) + barWidths.width(owner) + OWNER_GAP <= room) {
      text = `${text} · ${owner}`;
    }
    if (lane.patterns[index]) {
      context.fillStyle = palette.fills[fill];
      context.fillRect(labels + x + INDENT - 2, y + 1,
        Math.min(room, barWidths.width(text)) + 4, height - EDGE - 2);
    }
    context.fillStyle = palette.texts[fill];
    context.fillText(text, labels + x + INDENT, y + (height - EDGE) / 2 + 0.5);
  }
}

/** Return where the visible part of a bar is, right of the labels. */
export function boxOf(scale, {lane, index, top}) {
  const height = trackHeight(lane);
  const left = Math.max(0, scale.x(lane.starts[index]));
  const right = Math.min(scale.width, scale.x(lane.ends[index]) - 1);
  return {x: left, y: top + PADDING + lane.tracks[index] * height,
    width: Math.max(1, right - left), height: height - 1};
}
