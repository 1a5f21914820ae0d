// A map as a table: the same nodes under the same filter, by any column.

import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { spot } from "./controls.js";

const STEP = 100;

export class MapTable {
  // `acts`: link(node) gives an address or null, show(node), point(node).
  constructor(graph, degrees, acts) {
    Object.assign(this, { graph, degrees, acts, by: "size", up: false, most: STEP, shown: [] });
    this.body = h("tbody");
    this.head = h("tr");
    this.count = h("p", { class: "dim", role: "status" });
    this.more = h("button", { type: "button", hidden: true, onclick: () => this.grow() }, t("more"));
    this.element = h("div", { class: "map-table", id: "map-table", tabindex: "-1" },
      h("h2", { id: "map-table-title" }, t("map_table")), this.count,
      h("div", { class: "scroll", tabindex: "0", role: "region", "aria-labelledby": "map-table-title" }, h("table", {}, h("thead", {}, this.head), this.body)), this.more);
  }

  columns() {
    const { graph } = this;
    const theme = (n) => graph.named[graph.communities[n]]?.name ?? "";
    return [
      ["name", `map_name_${graph.kind}`, (n) => graph.labels[n].toLocaleLowerCase()], ["year", "map_year", (n) => graph.years[n].at(-1) ?? 0, "number"],
      ["size", `map_size_${graph.kind}`, (n) => graph.sizes[n], "number"], ["links", "map_links", (n) => this.degrees[n], "number"],
      ...(graph.named.length ? [["theme", "map_theme", theme]] : []),
    ];
  }

  show(shown, colours) {
    this.colours = colours ?? this.colours;
    this.nodes = this.graph.ids.map((_, n) => n).filter((n) => shown[n] === 2);
    this.most = STEP;
    this.sort();
  }

  sort() {
    const value = this.columns().find(([name]) => name === this.by)[2];
    const sign = this.up ? 1 : -1;
    const values = new Map(this.nodes.map((n) => [n, value(n)]));
    const compared = (a, b) => (typeof a === "number" ? a - b : a.localeCompare(b));
    this.sorted = [...this.nodes].sort((a, b) => sign * compared(values.get(a), values.get(b)) || a - b);
    this.draw();
  }

  draw() {
    replace(this.head, this.columns().map(([name, word, , kind]) => h("th", { scope: "col", class: kind, "aria-sort": this.by === name ? (this.up ? "ascending" : "descending") : "none" },
      h("button", { type: "button", class: "sort", onclick: () => this.sortBy(name, kind) }, t(word), h("span", { "aria-hidden": "true" }, this.by === name ? (this.up ? " ↑" : " ↓") : "")))));
    replace(this.body, this.sorted.slice(0, this.most).map((n) => this.row(n)));
    this.more.hidden = this.sorted.length <= this.most;
    this.count.textContent = this.nodes.length ? t("map_shown", this.nodes.length, this.graph.ids.length) : t("map_none");
  }

  sortBy(name, kind) {
    this.up = this.by === name ? !this.up : kind !== "number";
    this.by = name;
    this.sort();
    this.head.querySelectorAll("button")[this.columns().findIndex(([one]) => one === name)].focus();
  }

  grow() {
    const before = this.most;
    this.most += STEP;
    this.draw();
    this.body.rows[before]?.querySelector("a, button")?.focus();
  }

  row(n) {
    const { graph, acts } = this;
    const link = acts.link(n);
    const name = link ? h("a", { href: link }, quoted(graph.labels[n])) : h("button", { type: "button", class: "link", onclick: () => acts.show(n) }, quoted(graph.labels[n]));
    const years = graph.years[n];
    const community = graph.named[graph.communities[n]];
    const point = () => acts.point(n);
    const away = () => acts.point(-1);
    return h("tr", { onmouseenter: point, onmouseleave: away, onfocusin: point, onfocusout: away },
      h("th", { scope: "row" }, name),
      h("td", { class: "number" }, years.length ? t("map_years", String(years[0]), String(years.at(-1))) : "–"),
      h("td", { class: "number" }, String(graph.sizes[n])), h("td", { class: "number" }, String(this.degrees[n])),
      graph.named.length ? h("td", {}, community ? [spot(this.colours.node[graph.communities[n]] ?? this.colours.dim), quoted(community.name)] : h("span", { class: "dim" }, t("map_other"))) : null);
  }
}
