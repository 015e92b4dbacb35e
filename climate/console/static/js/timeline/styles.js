// SPDX-License-Identifier: Apache-2.0
// How bars look: a colour and a pattern for each state, from the variables of the style sheet.

/** The colours of bars. Text on a colour has the colour with the prefix "on-". */
export const FILLS = ['mine', 'booked', 'other', 'waiting', 'ended', 'attention', 'maintained',
  'out', 'asleep', ...Array.from({length: 8}, (_, index) => `hue-${index + 1}`)];
/** The patterns on bars; the first one has no lines. */
export const PATTERNS = ['solid', 'rising', 'falling', 'level', 'tape', 'upright', 'crossed',
  'dotted'];
const PLAIN = ['ground', 'card', 'text', 'soft', 'line', 'edge', 'accent', 'tint', 'bad', 'now', 'hover'];

const OF_KINDS = {maintenance: 'maintained', out_of_order: 'out', asleep: 'asleep',
  offer: 'waiting', several: 'several'};
const OF_STATUSES = {error: 'attention', timedout: 'attention', terminated: 'ended',
  terminating: 'ended', deleting: 'ended', deleted: 'ended', in_progress: 'waiting',
  inactive: 'booked', to_be_started: 'booked'};
const PATTERN_OF = {mine: 'solid', other: 'solid', booked: 'rising', waiting: 'falling',
  ended: 'level', attention: 'tape', several: 'upright', maintained: 'rising', out: 'crossed',
  asleep: 'dotted'};
const HUES = FILLS.filter((name) => name.startsWith('hue-'));
const TILE = 8;
// The lines of each pattern on a square tile, as [x, y, x, y, …] in pixels.
const LINES = {
  rising: [[-2, 2, 2, -2], [-2, 10, 10, -2], [6, 10, 10, 6]],
  falling: [[-2, 6, 2, 10], [-2, -2, 10, 10], [6, -2, 10, 2]],
  level: [[0, 2, 8, 2], [0, 6, 8, 6]],
  upright: [[2, 0, 2, 8], [6, 0, 6, 8]],
  crossed: [[-2, 10, 10, -2], [-2, -2, 10, 10]],
  dotted: [[1, 2, 3, 2], [5, 6, 7, 6]],
};
LINES.tape = LINES.rising;
const WIDTHS = {tape: 2.5, dotted: 2};
// The part of a pattern's colour that its lines have.
const STRENGTH = 0.4;
// The contrast of the edge of a bar with the page.
const LEAST_CONTRAST = 3;

/** Return the state of a bar, of which colour and pattern depend. */
export function stateOf(kind, status) {
  const own = OF_KINDS[kind] ?? OF_STATUSES[status];
  if (kind === 'others' && own === 'booked') return 'other';
  return own ?? (kind === 'others' ? 'other' : 'mine');
}

/** Return the index of the colour of a state. */
export const fillOf = (state) => FILLS.indexOf(state === 'several' ? 'other' : state);

/** Return the index of the pattern of a bar: that of its state, also if its colour is another. */
export const patternOf = (kind, status) => PATTERNS.indexOf(
  PATTERN_OF[OF_KINDS[kind] ?? OF_STATUSES[status] ?? 'mine']);

/** Return the index of the colour of an owner. Owners in sight differ as long as colours last. */
export const fillOfOwner = (place) => FILLS.indexOf(HUES[place % HUES.length]);

/** Return the contrast of two colours, [red, green, blue], by WCAG. */
export function contrast(one, other) {
  const [low, high] = [luminance(one), luminance(other)].sort((first, second) => first - second);
  return (high + 0.05) / (low + 0.05);
}

function luminance(parts) {
  const [red, green, blue] = parts.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The colours of the page, read from the style sheet; light and dark differ. */
export class Palette {
  constructor(context) {
    this.context = context;
    const style = getComputedStyle(document.documentElement);
    const read = (name) => this._plain(style.getPropertyValue(`--${name}`).trim());
    this.plain = Object.fromEntries(PLAIN.map((name) => [name, read(name)]));
    this.fills = FILLS.map(read);
    this.texts = FILLS.map((name) => read(`on-${name}`));
    this.edges = this.fills.map((fill, index) => this._edge(rgb(fill), rgb(this.texts[index])));
    this.fillPixels = Uint32Array.from(this.fills, pixel);
    this.edgePixels = Uint32Array.from(this.edges, pixel);
    this.tiles = new Map();
  }

  /** Return a colour as "#rrggbb". */
  _plain(text) {
    this.context.fillStyle = '#000';
    this.context.fillStyle = text;
    return this.context.fillStyle;
  }

  /** Return the colour nearest to a fill, towards its text, that stands out from the page. */
  _edge(fill, text) {
    const card = rgb(this.plain.card);
    for (let share = 0; share < 1; share += 0.05) {
      const mixed = fill.map((part, index) => Math.round(part + share * (text[index] - part)));
      if (contrast(mixed, card) >= LEAST_CONTRAST) return hex(mixed);
    }
    return hex(text);
  }

  /** Return the canvas pattern of the lines of a bar, or null if it has none. */
  lines(fill, pattern) {
    const key = PATTERNS.length * fill + pattern;
    if (!this.tiles.has(key)) {
      this.tiles.set(key, pattern === 0 ? null : this._tile(this.texts[fill], PATTERNS[pattern]));
    }
    return this.tiles.get(key);
  }

  _tile(colour, name) {
    const ratio = Math.max(1, Math.round(window.devicePixelRatio || 1));
    const tile = document.createElement('canvas');
    tile.width = tile.height = TILE * ratio;
    const context = tile.getContext('2d');
    context.scale(ratio, ratio);
    context.globalAlpha = STRENGTH;
    context.strokeStyle = colour;
    context.lineWidth = WIDTHS[name] ?? 1;
    for (const [x, y, toX, toY] of LINES[name]) {
      context.beginPath();
      context.moveTo(x, y);
      context.lineTo(toX, toY);
      context.stroke();
    }
    const made = this.context.createPattern(tile, 'repeat');
    made.setTransform(new DOMMatrix().scale(1 / ratio));
    return made;
  }

  /** Draw the sample of a state for the legend. */
  sample(canvas, state) {
    const context = canvas.getContext('2d');
    const fill = fillOf(state);
    context.fillStyle = this.fills[fill];
    context.fillRect(0, 0, canvas.width, canvas.height);
    const lines = this.lines(fill, Math.max(0, PATTERNS.indexOf(PATTERN_OF[state])));
    if (lines) {
      context.fillStyle = lines;
      context.fillRect(0, 0, canvas.width, canvas.height);
    }
    context.fillStyle = this.edges[fill];
    context.fillRect(0, canvas.height - 2, canvas.width, 2);
  }
}

/** Return "#rrggbb" as [red, green, blue]. */
export const rgb = (text) => [1, 3, 5].map((at) => parseInt(text.slice(at, at + 2), 16));

const hex = (parts) => `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;

/** Return "#rrggbb" as a pixel of an ImageData without its alpha. */
function pixel(text) {
  const [red, green, blue] = rgb(text);
  return blue << 16 | green << 8 | red;
}
