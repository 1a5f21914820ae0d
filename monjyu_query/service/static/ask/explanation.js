// How a lazy search went: why it ended, what its subqueries found, the best sentences, and the concepts they speak of.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";

const SENTENCES = 12;
const NODES = 18;
const [WIDTH, HEIGHT] = [800, 420];

export function explanation(lazy, usage) {
  const rows = lazy.subqueries.map((one) => h("tr", {}, h("td", {}, quoted(one.text)), h("td", {}, String(one.tests)), h("td", {}, String(one.relevant))));
  return h("details", { class: "explanation" }, h("summary", {}, t("howLazy")),
    h("p", {}, `${t(`ended_${lazy.ended}`)} ${t("spent", usage.relevance_tests, usage.budget_total)}. ${t("left", lazy.frontier_left)}`),
    h("div", { class: "answer-table", tabindex: "0" }, h("table", {},
      h("thead", {}, h("tr", {}, [t("subqueries"), t("tested"), t("relevant")].map((name) => h("th", { scope: "col" }, name)))),
      h("tbody", {}, rows))),
    lazy.graph.nodes.length > 1 ? [h("h4", {}, t("concepts")), drawing(lazy.graph)] : null,
    lazy.sentences.length ? [h("h4", {}, t("bestSentences")),
      h("ol", {}, lazy.sentences.slice(0, SENTENCES).map((one) => h("li", {}, quoted(one.text),
        h("span", { class: "dim" }, ` ${one.score.toFixed(1)}${one.reason ? ` · ${one.reason}` : ""}`))))] : null);
}

// The heaviest concepts on a circle, the heaviest at the top; lines as thick as the edges weigh.
function drawing(graph) {
  const nodes = graph.nodes.slice(0, NODES);
  const place = new Map(nodes.map((node, n) => {
    const angle = (2 * Math.PI * n) / nodes.length - Math.PI / 2;
    return [node.id, [WIDTH / 2 + 0.25 * WIDTH * Math.cos(angle), HEIGHT / 2 + 0.4 * HEIGHT * Math.sin(angle)]];
  }));
  const most = Math.max(...graph.edges.map((edge) => edge.weight), 1e-9);
  const heaviest = Math.max(...nodes.map((node) => node.weight));
  const picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, class: "concepts", role: "img", "aria-label": t("concepts") });
  for (const edge of graph.edges) {
    if (!place.has(edge.source) || !place.has(edge.target)) continue;
    const [[x1, y1], [x2, y2]] = [place.get(edge.source), place.get(edge.target)];
    picture.append(svg("line", { x1, y1, x2, y2, "stroke-width": 0.5 + (3.5 * edge.weight) / most }));
  }
  for (const node of nodes) {
    const [x, y] = place.get(node.id);
    const right = x >= WIDTH / 2;
    picture.append(svg("circle", { cx: x, cy: y, r: 3 + (6 * node.weight) / heaviest }));
    const text = svg("text", { x: right ? x + 12 : x - 12, y: y + 4, "text-anchor": right ? "start" : "end" });
    text.textContent = node.name;
    picture.append(text);
  }
  return picture;
}

function svg(name, values) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(values)) element.setAttribute(key, String(value));
  return element;
}
