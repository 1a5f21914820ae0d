// The view `themes`: what the collection is about, as a tree beside the theme that is read.
//
// `#/themes/COLLECTION/THEME?kind=reports|communities`

import { json } from "../api.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { themePage, overview } from "./theme.js";
import { ThemeTree } from "./tree.js";
import "./words.js";

const trees = new Map();
let kept = null; // the tree in the page: it keeps what was opened as one goes from theme to theme

export async function show(context, id) {
  const { name, info, params } = context;
  if (info.level < 1) return without(name);
  const query = new URLSearchParams({ collection: name });
  const page = id ? await json(`/themes/${encodeURIComponent(id)}?${query}`) : null;
  const found = await treeOf(info, page?.kind ?? params.get("kind"));
  const address = (theme) => `#/themes/${encodeURIComponent(name)}${theme ? `/${encodeURIComponent(theme.id)}` : ""}`;
  if (!kept?.of(found)) kept = new ThemeTree(found, address);
  kept.show(id);
  const body = page ? themePage(context, page, found.themes, address) : overview(context, found, address);
  return h("div", { class: id ? "themes reading" : "themes" }, kept.element, body);
}

export function arrived(element) {
  if (element.classList.contains("reading")) element.querySelector("h1").focus({ preventScroll: true });
  scrollTo(0, 0);
}

async function treeOf(info, kind) {
  const key = `${info.snapshot_id} ${kind}`;
  if (!trees.has(key)) {
    const query = new URLSearchParams({ collection: info.collection, ...(["reports", "communities"].includes(kind) ? { kind } : {}) });
    const found = await json(`/themes?${query}`);
    if (trees.size > 5) trees.clear();
    trees.set(key, found);
  }
  return trees.get(key);
}

function without(name) {
  return h("div", { class: "column" }, h("h1", { tabindex: "-1" }, t("themes")), h("p", {}, t("themes_level_0")), h("p", { class: "dim" }, t("themes_level_0_line")),
    h("p", {}, t("themes_level_how")), h("pre", { class: "command", tabindex: "0" }, h("code", {}, `monjyu upgrade ${name} --level 1`)));
}
