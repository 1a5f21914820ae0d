// One map with all that stands around it, and the state they share.

import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { arrange } from "./arrange.js";
import { coloured, onTheme, palette, yearSpan } from "./colours.js";
import { legend, segments, yearRange } from "./controls.js";
import { passing } from "./filter.js";
import { handle, zoomButtons } from "./hands.js";
import { panelOf } from "./panel.js";
import { Picture } from "./picture.js";
import { nodesOf, queryOf, radiiOf, stateOf } from "./state.js";
import { MapTable } from "./table.js";

const laidOut = new WeakMap(); // graph -> places of its nodes

export class MapView {
  constructor(context, graph, theme, kinds) {
    Object.assign(this, { context, graph, kinds, theme });
    this.signal = context.signal;
    this.state = stateOf(context.params, graph);
    this.span = yearSpan(graph);
    this.state.only = theme ? nodesOf(graph, theme) : null;
    this.lit = null;
    this.radii = radiiOf(graph);
    this.canvas = h("canvas", { tabindex: "0", role: "application", "aria-label": t("map_canvas", t(`map_${graph.kind}`), graph.ids.length) });
    this.picture = new Picture(this.canvas);
    this.degrees = new Uint32Array(graph.ids.length);
    this.acts = {
      hover: (node, x, y) => this.hover(node, x, y), choose: (node) => this.choose(node), open: (node) => this.open(node), walk: (step) => this.walk(step),
      touched: () => (this.touched = true), fit: () => this.fit(), link: (node) => this.link(node), show: (node) => this.show(node), point: (node) => this.point(node),
      themeLink: (place) => `#/themes/${encodeURIComponent(context.name)}/${encodeURIComponent(graph.named[place].id)}`,
      ask: (node) => context.ask({ paper_ids: [graph.ids[node]] }, graph.labels[node]),
    };
    this.build();
    this.start();
  }

  build() {
    const { graph } = this;
    this.told = h("div", { class: "map-tip", hidden: true, "aria-hidden": "true" });
    this.side = h("div", { class: "map-side" });
    this.legend = h("div");
    this.waiting = h("p", { class: "map-waiting", role: "status" }, t("map_arranging"));
    this.nothing = h("p", { class: "map-waiting", hidden: true }, t("map_none"));
    const words = { nearer: t("map_nearer"), further: t("map_further"), whole: t("map_whole") };
    const zoom = h("div", { class: "map-zoom", role: "group" }, zoomButtons(this.picture, this.acts, words).map(([sign, name, act]) => h("button", { type: "button", "aria-label": name, title: name, onclick: act }, sign)));
    this.table = new MapTable(graph, this.degrees, this.acts);
    this.stage = h("div", { class: "map-stage" }, this.canvas, h("p", { class: "map-keys", "aria-hidden": "true" }, t("map_keys")), this.legend, this.waiting, this.nothing, this.told, zoom, this.side);
    this.element = h("div", { class: "maps" },
      h("div", { class: "map-head" }, h("h1", { tabindex: "-1" }, t("maps")), this.kinds, this.controls(),
        h("a", { class: "to-table", href: "#map-table", onclick: (event) => this.toTable(event) }, t("map_to_table"))),
      h("p", { class: "map-line dim" }, t(graph.kind === "citations" && graph.level < 1 ? "map_line_citations_0" : `map_line_${graph.kind}`), " ", this.notes()),
      this.stage, this.table.element);
  }

  controls() {
    const find = h("input", { id: "map-find", type: "search", maxlength: 200, autocomplete: "off", value: this.state.text, placeholder: t("map_search"), "aria-label": t("map_search"), oninput: () => this.filter({ text: find.value.trim() }) });
    this.find = find;
    this.colouring = h("div");
    const years = this.span && this.span[0] < this.span[1] ? yearRange(this.graph, this.span, this.state, () => this.filter({})) : null;
    this.resetYears = years?.reset;
    return [this.colouring, years?.element, find];
  }

  notes() {
    const { graph } = this;
    const cut = graph.total > graph.ids.length ? t("map_truncated", graph.ids.length, graph.total) : null;
    const toggle = graph.unlinked ? h("label", { class: "map-unlinked" }, t("map_unlinked", graph.unlinked), ": ",
      h("input", { type: "checkbox", checked: this.state.unlinked, onchange: (event) => this.filter({ unlinked: event.target.checked }) }), " ", t("map_show_unlinked")) : null;
    const only = this.theme ? h("span", { class: "chip still" }, quoted(t("map_only", this.theme.theme.title)),
      h("button", { type: "button", class: "quiet small", "aria-label": t("map_reset"), onclick: (event) => this.whole(event.target.parentElement) }, "×")) : null;
    return [cut, cut ? " " : null, toggle, only ? " " : null, only];
  }

  start() {
    const { graph, picture } = this;
    for (const ends of [graph.sources, graph.targets]) for (const node of ends) this.degrees[node] += 1;
    picture.set({ graph, radii: this.radii, names: graph.names.length ? graph.names : graph.labels });
    this.recolour();
    this.filter({});
    handle(picture, this.acts, this.signal);
    onTheme(() => this.recolour(), this.signal);
    const size = new ResizeObserver(() => {
      picture.resize();
      this.turn();
      if (!this.touched) this.fit();
    });
    size.observe(this.canvas);
    this.signal.addEventListener("abort", () => size.disconnect());
    const known = laidOut.get(graph);
    if (known) this.moved(known, true);
    else arrange(graph, this.radii, (positions, done) => this.moved(positions, done), this.signal);
    const wanted = this.context.params.get("node");
    if (wanted !== null) this.choose(graph.ids.indexOf(wanted), false);
  }

  moved(positions, done) {
    if (!done && matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.places = positions;
    this.turn();
    this.waiting.hidden = true;
    if (done) {
      laidOut.set(this.graph, positions);
      this.stage.dataset.laid = "yes";
      say(t("map_ready", t("map_shown", this.graph.ids.length, this.graph.ids.length)));
    }
    if (!this.touched) this.fit();
    else this.picture.ask(!done);
  }

  // A map is wider than high; on a screen that is higher than wide it lies on its side.
  turn() {
    const { picture, places } = this;
    if (!places) return;
    picture.positions = picture.camera.height > 1.15 * picture.camera.width ? places.map((_, n) => places[n % 2 ? n - 1 : n + 1]) : places;
  }

  fit() {
    const { picture } = this;
    if (!picture.positions) return;
    const narrow = picture.camera.width < 640;
    const wide = this.side.childElementCount && !narrow ? 350 : 0;
    const any = this.shown.includes(2);
    picture.camera.fit(picture.positions, this.radii, (n) => this.shown[n] === (any ? 2 : 1), { left: narrow ? 30 : this.graph.named.length ? 200 : 70, right: (narrow ? 30 : 70) + wide, top: narrow ? 70 : 34, bottom: 40 });
    picture.ask(!this.stage.dataset.laid);
  }

  recolour() {
    const { graph, state } = this;
    this.colours = palette(state.colour);
    const titles = state.colour === "community" && graph.kind === "concepts"
      ? graph.named.map((one, place) => ({ name: one.name, place, nodes: graph.ids.map((_, n) => n).filter((n) => graph.communities[n] === place) })) : null;
    this.picture.set({ places: coloured(graph, state.colour, this.span), colours: this.colours, titles });
    replace(this.colouring, graph.named.length && this.span ? segments(t("map_colour"), ["community", "year"].map((colour) => [colour, t(`map_by_${colour}`), { onclick: () => this.colour(colour) }]), state.colour) : null);
    this.showLegend();
    if (this.shown) this.table.show(this.shown, palette("community"));
  }

  showLegend() {
    replace(this.legend, legend(this.graph, this.state.colour, this.colours, this.span, this.lit, (place) => this.light(place)));
  }

  colour(colour) {
    this.state.colour = colour;
    this.lit = null;
    this.mark();
    this.recolour();
    this.colouring.querySelector("[aria-pressed=true]")?.focus();
    this.keepAddress();
  }

  // Has a community stand out.
  light(place) {
    this.lit = place;
    this.mark();
    this.showLegend();
    const pressed = this.legend.querySelectorAll("button")[place ?? 0];
    pressed?.focus();
  }

  mark() {
    const { graph, picture } = this;
    picture.marked = this.lit === null ? null : new Set(graph.ids.map((_, n) => n).filter((n) => graph.communities[n] === this.lit));
    picture.ask();
  }

  filter(changed) {
    Object.assign(this.state, changed);
    this.shown = Uint8Array.from(passing(this.graph, this.state));
    this.picture.set({ shown: this.shown });
    this.nothing.hidden = this.shown.includes(2);
    clearTimeout(this.filling);
    const fill = () => this.table.show(this.shown, this.state.colour === "community" ? this.colours : palette("community"));
    if (this.table.sorted) this.filling = setTimeout(fill, 120);
    else fill();
    this.keepAddress();
  }

  whole(chip) {
    chip.remove();
    this.theme = null;
    this.filter({ only: null });
    this.find.focus();
  }

  hover(node, x = 0, y = 0) {
    this.canvas.classList.toggle("over", node >= 0);
    if (node >= 0) {
      const facts = [this.graph.names[node] ?? null, t(this.graph.kind === "citations" ? "map_cited_n" : "map_passages_n", this.graph.sizes[node])].filter(Boolean).join(" · ");
      replace(this.told, h("strong", {}, quoted(this.graph.labels[node])), h("span", {}, facts));
      const left = x > this.picture.camera.width / 2;
      this.told.style.transform = `translate(${left ? "-100%" : "0"}, -50%)`;
      this.told.style.left = `${x + (left ? -18 : 18)}px`;
      this.told.style.top = `${Math.max(40, y)}px`;
    }
    this.told.hidden = node < 0;
    this.point(node);
  }

  point(node) {
    if (this.picture.hovered === node) return;
    this.picture.hovered = node;
    this.picture.ask();
  }

  choose(node, speak = true) {
    const { picture, graph } = this;
    picture.chosen = node;
    const inside = this.side.contains(document.activeElement);
    replace(this.side, node < 0 ? null : panelOf(graph, picture.neighbours[node], node, palette("community"), this.context, this.acts));
    if (inside) (this.side.querySelector("h2") ?? this.canvas).focus({ preventScroll: true });
    if (node >= 0 && speak) say(`${graph.labels[node]}. ${t(graph.kind === "citations" ? "map_cited_n" : "map_passages_n", graph.sizes[node])}`);
    this.reveal(node);
    picture.ask();
    this.keepAddress();
  }

  // From the table up to the map.
  show(node) {
    this.choose(node);
    this.side.querySelector("h2").focus({ preventScroll: true });
    this.stage.scrollIntoView({ block: "nearest" });
  }

  // What was chosen is not left under the panel, nor outside of the picture.
  reveal(node) {
    const { camera, positions } = this.picture;
    if (node < 0 || !positions) return;
    const narrow = camera.width < 640;
    const room = { right: narrow ? camera.width - 30 : camera.width - 360, bottom: narrow ? camera.height * 0.42 : camera.height - 30 };
    const [x, y] = [camera.across(positions[2 * node]), camera.down(positions[2 * node + 1])];
    if (x > 30 && x < room.right && y > 30 && y < room.bottom) return;
    this.touched = true;
    camera.pan(room.right / 2 - x, room.bottom / 2 - y);
  }

  // From one node that is shown to the next, the heaviest first.
  walk(step) {
    const nodes = this.graph.ids.map((_, n) => n).filter((n) => this.shown[n] === 2);
    if (!nodes.length) return;
    const now = nodes.indexOf(this.picture.chosen);
    this.choose(nodes[(now + step + nodes.length + (now < 0 && step < 0 ? 1 : 0)) % nodes.length]);
  }

  link(node) {
    return this.graph.kind === "citations" ? `#/paper/${encodeURIComponent(this.context.name)}/${encodeURIComponent(this.graph.ids[node])}` : null;
  }

  open(node) {
    if (node < 0) return;
    const place = this.graph.communities[node];
    if (this.graph.kind === "citations") location.hash = this.link(node);
    else if (place >= 0) location.hash = this.acts.themeLink(place);
  }

  toTable(event) {
    event.preventDefault();
    this.table.element.focus();
    this.table.element.scrollIntoView({ block: "start" });
  }

  // The address says what is seen, without a new entry in the history.
  keepAddress() {
    if (this.signal.aborted || !this.stage) return;
    const { state, graph, theme, picture } = this;
    const query = queryOf(state, graph, theme, graph.ids[picture.chosen]);
    history.replaceState(history.state, "", `#/maps/${encodeURIComponent(this.context.name)}?${query}`);
  }
}
