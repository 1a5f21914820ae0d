// The papers as a table that is sorted, filtered and counted by the service; its state stands in the address.

import { json, request } from "../api.js";
import { h, quoted, replace, saved } from "../dom.js";
import { t } from "../i18n.js";
import { listed, paperLink } from "../paper/shared.js";
import { upload } from "./upload.js";
import "./words.js";

const STEP = 50;
const MOST = 200;
const SORTS = ["title", "year", "venue", "author", "citations", "pages"];
const FACETS = { venue: "venues", author: "authors", language: "languages", type: "types", tag: "tags", shelf: "shelves" };

export function library(context) {
  const { name: collection, params, signal, ask } = context;
  const state = new URLSearchParams(params);
  const chosen = new Map();
  const count = h("p", { class: "dim", role: "status" });
  const body = h("tbody", { class: "papers" });
  const facets = h("div", { class: "facets" });
  const bar = h("div", { class: "row chosen-papers", hidden: true });
  const failed = h("p", { class: "error", hidden: true });
  const more = h("button", { type: "button", hidden: true, onclick: () => load(body.childElementCount) }, t("more"));
  const find = h("input", { id: "find", type: "search", maxlength: 200, autocomplete: "off", value: state.get("text") ?? "" });
  const sort = h("select", { id: "sort" }, SORTS.map((one) => h("option", { value: one, selected: (state.get("sort") ?? "title") === one }, t(`sort_${one}`))));
  let timer = 0;
  let turn = 0;
  const query = (extra) => new URLSearchParams([...state, ["collection", collection], ...Object.entries(extra)]);
  const load = async (offset) => {
    const mine = (turn += 1);
    history.replaceState(null, "", `#/papers/${encodeURIComponent(collection)}${state.size ? `?${state}` : ""}`);
    try {
      const found = await json(`/library?${query({ offset, limit: STEP })}`);
      if (mine !== turn || signal.aborted) return;
      if (!offset) replace(body);
      body.append(...found.papers.map((paper) => line(paper, collection, chosen, select)));
      count.textContent = found.total ? t("count", found.total) : t("noMatch");
      more.hidden = body.childElementCount >= found.total;
      if (!offset) replace(facets, filters(found.facets, state, changed));
    } catch (error) {
      if (mine === turn) replace(count, error.message);
    }
  };
  const changed = () => load(0);
  const set = (name, value) => {
    if (value) state.set(name, value);
    else state.delete(name);
    changed();
  };
  const select = () => {
    for (const box of body.querySelectorAll("input")) box.checked = chosen.has(box.value);
    const ids = [...chosen.keys()];
    bar.hidden = !ids.length;
    const label = ids.length === 1 ? [...chosen.values()][0] : t("papersOf", ids.length);
    const asked = ids.map((id) => `papers=${encodeURIComponent(id)}`).join("&");
    const file = (format, ending) => h("button", { type: "button", class: "small", onclick: () => saved(
      () => request(`/bibliography?${new URLSearchParams([["collection", collection], ["format", format], ...ids.map((id) => ["paper_id", id])])}`), `${collection}.${ending}`, failed) }, ending);
    replace(bar, h("span", { role: "status" }, t("selected", ids.length)),
      h("button", { type: "button", class: "small primary", onclick: () => ask({ paper_ids: ids }, label) }, t("askThese")),
      ids.length > 1 && ids.length < 6 ? h("a", { href: `#/compare/${encodeURIComponent(collection)}?${asked}` }, t("compareThese")) : null,
      file("bibtex", "bib"), file("ris", "ris"), file("csl", "json"),
      h("button", { type: "button", class: "small", onclick: () => { chosen.clear(); select(); } }, t("selectNone")));
  };
  const all = async () => {
    const found = await json(`/library?${query({ offset: 0, limit: MOST })}`);
    for (const paper of found.papers) if (chosen.size < MOST) chosen.set(paper.paper_id, paper.title || paper.paper_id);
    select();
  };
  find.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => set("text", find.value.trim()), 200);
  });
  sort.addEventListener("change", () => {
    if (["year", "citations", "pages"].includes(sort.value)) state.set("descending", "true");
    else state.delete("descending");
    set("sort", sort.value === "title" ? "" : sort.value);
  });
  load(0);
  const heads = SORTS.map((one) => h("th", { scope: "col" }, t(`sort_${one}`)));
  return h("div", { class: "library" }, h("h1", {}, t("papers")),
    h("div", { class: "row" }, h("div", { class: "field grow" }, h("label", { for: "find" }, t("find")), find),
      h("div", { class: "field" }, h("label", { for: "sort" }, t("sortBy")), sort),
      h("button", { type: "button", onclick: all }, t("selectAll", MOST))),
    upload(context, () => load(0)), bar, failed, h("div", { class: "library-parts" }, facets, h("div", {}, count,
      h("table", { class: "library-table" }, h("thead", {}, h("tr", {}, h("td", {}), heads)), body), more)), problems(collection));
}

function line(paper, collection, chosen, select) {
  const title = paper.title || paper.paper_id;
  const box = h("input", { type: "checkbox", value: paper.paper_id, "aria-label": t("choose", title), checked: chosen.has(paper.paper_id), onchange: () => {
    if (!box.checked) chosen.delete(paper.paper_id);
    else if (chosen.size < MOST) chosen.set(paper.paper_id, title);
    select();
  } });
  const cell = (name, ...content) => h("td", { "data-name": t(`sort_${name}`) }, content);
  return h("tr", {}, h("td", {}, box),
    h("th", { scope: "row" }, paperLink(paper, collection), paper.retracted ? [" ", h("span", { class: "badge" }, t("retracted"))] : null),
    cell("year", paper.year ?? "–"), cell("venue", paper.venue ? quoted(paper.venue) : "–"),
    cell("author", paper.authors.length ? listed(paper.authors.slice(0, 1)) : "–", paper.authors.length > 1 ? " …" : ""),
    cell("citations", paper.citations), cell("pages", paper.page_count || "–"));
}

function filters(counts, state, changed) {
  const value = (name, one) => h("li", {}, h("label", {}, h("input", { type: "checkbox", checked: state.getAll(name).includes(one.value), onchange: (event) => {
    const others = state.getAll(name).filter((held) => held !== one.value);
    state.delete(name);
    for (const held of event.target.checked ? [...others, one.value] : others) state.append(name, held);
    changed();
  } }), " ", quoted(one.value), h("span", { class: "dim" }, ` ${one.papers}`)));
  const year = (name, word) => h("input", { type: "number", min: 0, max: 9999, value: state.get(name) ?? "", "aria-label": `${t("f_years")}: ${t(word)}`, onchange: (event) => {
    if (event.target.value) state.set(name, event.target.value);
    else state.delete(name);
    changed();
  } });
  const names = ["year_from", "year_to", "retracted", ...Object.keys(FACETS)];
  const clear = h("button", { type: "button", class: "small", hidden: !names.some((name) => state.has(name)), onclick: () => {
    for (const name of names) state.delete(name);
    changed();
  } }, t("clearFilters"));
  const groups = Object.entries(FACETS).filter(([, kind]) => counts[kind]?.length);
  return [h("h2", {}, t("filters")), clear, h("fieldset", {}, h("legend", {}, t("f_years")), h("div", { class: "years" }, year("year_from", "from"), "–", year("year_to", "to"))),
    groups.map(([name, kind]) => h("details", { open: state.has(name) }, h("summary", {}, t(`f_${name}`)), h("ul", {}, counts[kind].map((one) => value(name, one))))),
    counts.retracted?.length ? h("label", {}, h("input", { type: "checkbox", checked: state.has("retracted"), onchange: (event) => {
      if (event.target.checked) state.set("retracted", "true");
      else state.delete("retracted");
      changed();
    } }), ` ${t("onlyRetracted")}`) : null];
}

function problems(collection) {
  const place = h("section", {});
  json(`/library/problems?collection=${encodeURIComponent(collection)}`).then((found) => {
    const files = [...found.failed, ...found.unsupported];
    const all = found.failed_count + found.unsupported_count;
    replace(place, all ? h("details", {}, h("summary", {}, t("problems", all)), h("ul", {}, files.map((one) => h("li", {}, quoted(one.file), ": ", quoted(one.message))))) : null,
      found.sources.length ? h("p", { class: "dim" }, t("comesFrom"), listed(found.sources)) : null);
  }).catch((error) => replace(place, error.message));
  return place;
}
