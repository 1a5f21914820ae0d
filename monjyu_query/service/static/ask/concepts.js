// What the relevant sentences speak of, as a small picture.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import "./words.js";

const NODES = 18;
const [WIDE, NARROW] = [[760, 400], [350, 400]];

// The heaviest concepts on a circle, the heaviest at the top; lines as thick as the edges weigh.
export function conceptsPicture(graph) {
  const nodes = graph.nodes.slice(0, NODES);
  const [width, height] = matchMedia("(max-width: 38rem)").matches ? NARROW : WIDE;
  const across = width === WIDE[0] ? 0.25 : 0.12; // room beside for the names
  const place = new Map(nodes.map((node, n) => {
    const angle = (2 * Math.PI * (n + 0.5)) / nodes.length - Math.PI / 2; // none at the very top, where names would meet
    return [node.id, [width / 2 + across * width * Math.cos(angle), height / 2 + 0.45 * height * Math.sin(angle)]];
  }));
  const most = Math.max(...graph.edges.map((edge) => edge.weight), 1e-9);
  const heaviest = Math.max(...nodes.map((node) => node.weight));
  const picture = svg("svg", { viewBox: `0 0 ${width} ${height}`, class: "concepts", role: "img", "aria-label": t("concepts"), focusable: "false" });
  for (const edge of graph.edges) {
    if (!place.has(edge.source) || !place.has(edge.target)) continue;
    const [[x1, y1], [x2, y2]] = [place.get(edge.source), place.get(edge.target)];
    picture.append(svg("line", { x1, y1, x2, y2, "stroke-width": 0.5 + (3.5 * edge.weight) / most }));
  }
  for (const node of nodes) {
    const [x, y] = place.get(node.id);
    const right = x >= width / 2;
    picture.append(svg("circle", { cx: x, cy: y, r: 3 + (6 * node.weight) / heaviest }));
    const text = svg("text", { x: right ? x + 12 : x - 12, y: y + 4, "text-anchor": right ? "start" : "end" });
    text.textContent = node.name;
    picture.append(text);
  }
  return h("figure", { class: "concept-graph" }, picture, h("figcaption", { class: "unseen" }, t("conceptList", nodes.map((node) => node.name).join(", "))));
}

export function svg(name, values) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, String(value));
  return element;
}
