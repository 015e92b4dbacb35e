// SPDX-License-Identifier: Apache-2.0
// Charts by Apache ECharts, in the colours of the page.

import * as echarts from '../vendor/echarts.min.js';
import {zoneName} from './times.js';

const HEIGHT = 260;

const colour = (name) => getComputedStyle(document.documentElement)
  .getPropertyValue(`--${name}`).trim();

/**
 * Draw lines over time.
 *
 * @param {HTMLElement} place - an empty element.
 * @param {object} what - title; lines, [{name, colour, points, step, area, dashed}]; and bands,
 *   [{name, colour, points}]. Points are [milliseconds, value] and, of bands, [milliseconds, low,
 *   high].
 */
export function drawLines(place, {title, lines, bands = []}) {
  draw(place, title, {
    legend: [...lines, ...bands].map((each) => each.name),
    tooltip: {valueFormatter: rounded},
    dataZoom: [{type: 'inside'}, {type: 'slider', height: 18, bottom: 8}],
    xAxis: {type: 'time', splitLine: {show: false}},
    series: [...bands.flatMap(band), ...lines.map(line)]});
}

/**
 * Draw bars side by side.
 *
 * @param {HTMLElement} place - an empty element.
 * @param {object} what - title; names, of the groups of bars; bars, [{name, colour, values}].
 */
export function drawBars(place, {title, names, bars}) {
  draw(place, title, {
    legend: bars.map((each) => each.name),
    tooltip: {valueFormatter: rounded},
    xAxis: {type: 'category', data: names, splitLine: {show: false}},
    series: bars.map(({name, colour: of, values}) => ({
      name, type: 'bar', data: values, color: colour(of)}))});
}

function draw(place, title, {legend, tooltip, dataZoom, xAxis, series}) {
  place.style.height = `${HEIGHT}px`;
  const known = echarts.getInstanceByDom(place);
  const chart = known ?? echarts.init(place);
  const text = {color: colour('text')};
  const axis = {axisLabel: {color: colour('soft')}, axisLine: {lineStyle: {color: colour('line')}},
    splitLine: {lineStyle: {color: colour('line')}}};
  chart.setOption({
    animation: false,
    useUTC: zoneName() === 'UTC',
    aria: {enabled: true, label: {description: title}},
    grid: {left: 50, right: 20, top: 40, bottom: 60},
    legend: {textStyle: text, data: legend, top: 0},
    // Rich text, because the page allows no inline style.
    tooltip: {trigger: 'axis', renderMode: 'richText', ...tooltip},
    dataZoom,
    xAxis: {...axis, ...xAxis},
    yAxis: {type: 'value', min: 0, ...axis},
    series,
  }, true);
  if (!known) new ResizeObserver(() => chart.resize()).observe(place);
}

const rounded = (value) => (typeof value === 'number' ? String(Math.round(value * 100) / 100) : '');

const line = ({name, colour: of, points, step = false, area = false, dashed = false}) => ({
  name, type: 'line', data: points, step: step && 'end', showSymbol: false, color: colour(of),
  lineStyle: {width: 2, type: dashed ? 'dashed' : 'solid'},
  areaStyle: area ? {opacity: 0.25} : undefined});

/** A band is an invisible line with an area stacked on it. */
const band = ({name, colour: of, points}) => {
  const common = {type: 'line', stack: name, showSymbol: false, color: colour(of),
    lineStyle: {opacity: 0}, tooltip: {show: false}};
  return [{...common, name: `${name} `, data: points.map(([at, low]) => [at, low])},
    {...common, name, areaStyle: {opacity: 0.2},
      data: points.map(([at, low, high]) => [at, high - low])}];
};
