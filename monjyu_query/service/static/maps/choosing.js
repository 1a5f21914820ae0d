// What hand and keys do with the nodes of a map: look at one, choose it, walk to the next, open it.

import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { palette } from "./colours.js";
import { panelOf } from "./panel.js";

const MARGIN = 30; // pixels in which no node is chosen without being moved to the middle
const PANEL = 360; // pixels that the panel takes

export class Choosing {
  constructor(view) {
    this.view = view;
  }

  hover(node, x = 0, y = 0) {
    const { canvas, told, graph, picture } = this.view;
    canvas.classList.toggle("over", node >= 0);
    if (node >= 0) {
      replace(told, h("strong", {}, quoted(graph.labels[node])), h("span", {}, [graph.names[node], this.size(node)].filter(Boolean).join(" · ")));
      const left = x > picture.camera.width / 2;
      told.style.transform = `translate(${left ? "-100%" : "0"}, -50%)`;
      told.style.left = `${x + (left ? -18 : 18)}px`;
      told.style.top = `${Math.max(40, y)}px`;
    }
    told.hidden = node < 0;
    this.point(node);
  }

  size(node) {
    const { graph } = this.view;
    return t(graph.kind === "citations" ? "map_cited_n" : "map_passages_n", graph.sizes[node]);
  }

  point(node) {
    const { picture } = this.view;
    if (picture.hovered === node) return;
    picture.hovered = node;
    picture.ask();
  }

  choose(node, speak = true) {
    const { picture, graph, side, canvas, context, acts } = this.view;
    picture.chosen = node;
    const inside = side.contains(document.activeElement);
    replace(side, node < 0 ? null : panelOf(graph, picture.neighbours[node], node, palette("community"), context, acts));
    if (inside) (side.querySelector("h2") ?? canvas).focus({ preventScroll: true });
    if (node >= 0 && speak) say(`${graph.labels[node]}. ${this.size(node)}`);
    this.reveal(node);
    picture.ask();
    this.view.keepAddress();
  }

  // From the table up to the map.
  show(node) {
    this.choose(node);
    this.view.side.querySelector("h2").focus({ preventScroll: true });
    this.view.stage.scrollIntoView({ block: "nearest" });
  }

  // What was chosen is not left under the panel, nor outside of the picture.
  reveal(node) {
    const { camera, positions } = this.view.picture;
    if (node < 0 || !positions) return;
    const narrow = camera.width < 640;
    const room = { right: camera.width - (narrow ? MARGIN : PANEL), bottom: narrow ? camera.height * 0.42 : camera.height - MARGIN };
    const [x, y] = [camera.across(positions[2 * node]), camera.down(positions[2 * node + 1])];
    if (x > MARGIN && x < room.right && y > MARGIN && y < room.bottom) return;
    this.view.touched = true;
    camera.pan(room.right / 2 - x, room.bottom / 2 - y);
  }

  // From one node that is shown to the next, the heaviest first.
  walk(step) {
    const { graph, shown, picture } = this.view;
    const nodes = graph.ids.map((_, n) => n).filter((n) => shown[n] === 2);
    if (!nodes.length) return;
    const now = nodes.indexOf(picture.chosen);
    this.choose(nodes[(now + step + nodes.length + (now < 0 && step < 0 ? 1 : 0)) % nodes.length]);
  }

  link(node) {
    const { graph, context } = this.view;
    return graph.kind === "citations" ? `#/paper/${encodeURIComponent(context.name)}/${encodeURIComponent(graph.ids[node])}` : null;
  }

  themeLink(place) {
    const { graph, context } = this.view;
    return `#/themes/${encodeURIComponent(context.name)}/${encodeURIComponent(graph.named[place].id)}`;
  }

  open(node) {
    if (node < 0) return;
    const { graph } = this.view;
    if (graph.kind === "citations") location.hash = this.link(node);
    else if (graph.communities[node] >= 0) location.hash = this.themeLink(graph.communities[node]);
  }
}
