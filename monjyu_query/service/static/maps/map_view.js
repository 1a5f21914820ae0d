// One map with all that stands around it, and the state they share.

import { h, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { arrange } from "./arrange.js";
import { Choosing } from "./choosing.js";
import { coloured, onTheme, palette, yearSpan } from "./colours.js";
import { legend, segments } from "./controls.js";
import { passing } from "./filter.js";
import { build } from "./frame.js";
import { handle } from "./hands.js";
import { Picture } from "./picture.js";
import { nodesOf, queryOf, radiiOf, stateOf } from "./state.js";

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
    const choosing = (this.choosing = new Choosing(this));
    const acts = ["hover", "choose", "open", "walk", "link", "show", "point", "themeLink"].map((name) => [name, (...given) => choosing[name](...given)]);
    this.acts = { ...Object.fromEntries(acts), touched: () => (this.touched = true), fit: () => this.fit(), ask: (node) => context.ask({ paper_ids: [graph.ids[node]] }, graph.labels[node]) };
    build(this);
    this.start();
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
    if (wanted !== null) this.choosing.choose(graph.ids.indexOf(wanted), false);
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
    const beside = this.legend.firstElementChild?.offsetWidth ?? 0; // nothing lies under the legend
    const any = this.shown.includes(2);
    picture.camera.fit(picture.positions, this.radii, (n) => this.shown[n] === (any ? 2 : 1), { left: narrow ? 30 : Math.max(70, beside + 40), right: (narrow ? 30 : 70) + wide, top: narrow ? 70 : 34, bottom: 40 });
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
    replace(this.legend, legend(this.graph, this.state.colour, this.colours, this.span, this.lit, (place) => this.light(place), this.acts.themeLink));
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
    const pressed = place ?? this.lit;
    this.lit = place;
    this.mark();
    this.showLegend();
    this.legend.querySelectorAll("button")[pressed]?.focus();
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

  // The address says what is seen, without a new entry in the history.
  keepAddress() {
    if (this.signal.aborted || !this.stage) return;
    const { state, graph, theme, picture } = this;
    const query = queryOf(state, graph, theme, graph.ids[picture.chosen]);
    history.replaceState(history.state, "", `#/maps/${encodeURIComponent(this.context.name)}?${query}`);
  }
}
