// The filters of the library with how many papers each value has; what is chosen stands in the address.

import { json } from "../api.js";
import { FACETS } from "../declared.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";

const ALWAYS = ["venue", "author", "language", "type", "tag"];
const LONG = 10; // values without a box to find one among them
const PAUSE = 150; // milliseconds after the last letter
const NAMES = ["year_from", "year_to", "retracted", "failed", ...FACETS.map((facet) => facet.name)];

function isFiltered(state) {
  return NAMES.some((name) => state.has(name));
}

// `found` is a page of the library; `changed` is called after a change of `state`; `failed` counts the files that could
// not be read.
export function filters(found, failed, state, changed) {
  const counts = found.facets;
  const set = (name, value) => {
    if (value) state.set(name, value);
    else state.delete(name);
    changed();
  };
  const clear = h("button", { type: "button", class: "small", hidden: !isFiltered(state), onclick: () => {
    for (const name of NAMES) state.delete(name);
    changed();
  } }, t("clearFilters"));
  const retracted = counts.retracted?.[0]?.papers ?? 0;
  return h("details", { open: wide() || isFiltered(state) }, h("summary", {}, h("h2", {}, t("filters"))), clear, years(counts.years ?? [], state, set, changed),
    FACETS.map((one) => facet(one, counts[one.kind] ?? [], found, state, changed)),
    only("retracted", t("onlyRetracted"), retracted, state, set), only("failed", t("onlyFailed"), failed, state, set));
}

function facet({ name, kind, searched }, values, found, state, changed) {
  const all = withHeld(name, values, state);
  if (!all.length) return ALWAYS.includes(name) ? h("p", { class: "dim no-values" }, t("noValues", t(`f_${name}`))) : null;
  const count = Math.max(found.values[kind] ?? 0, all.length);
  const list = h("ul", {});
  const most = Math.max(1, ...all.map((one) => one.papers));
  const show = (shown) => replace(list, shown.map((one) => value(name, one, state, changed, most)));
  show(all);
  return h("details", { open: wide() || state.has(name), "data-facet": name }, h("summary", {}, t(`f_${name}`), h("span", { class: "dim" }, ` (${count})`)),
    count > LONG && searched ? search({ name, kind }, all, count, found.collection, state, show) : null, list);
}

// What is chosen is there, however few papers have it.
function withHeld(name, values, state) {
  return [...values, ...state.getAll(name).filter((held) => !values.some((one) => one.value === held)).map((value) => ({ value, papers: 0 }))];
}

// A box that finds values by their words among all there are; `all` is shown while it is empty.
function search({ name, kind }, all, count, collection, state, show) {
  const told = h("p", { class: "dim", role: "status" }, count > all.length ? t("firstOf", all.length, count) : "");
  let timer = 0;
  let turn = 0;
  const look = async () => {
    const mine = (turn += 1);
    const words = box.value.trim();
    if (!words) {
      show(all);
      return void replace(told, count > all.length ? t("firstOf", all.length, count) : "");
    }
    const query = new URLSearchParams([...state].filter(([one]) => one !== "failed" && one !== "sort" && one !== "descending"));
    for (const [one, given] of [["collection", collection], ["kind", kind], ["words", words]]) query.set(one, given);
    try {
      const { total, values } = await json(`/library/values?${query}`);
      if (mine !== turn) return;
      show(values);
      replace(told, total > values.length ? t("firstOf", values.length, total) : t("foundValues", total));
    } catch (error) {
      if (mine === turn) replace(told, h("span", { class: "error" }, error.message));
    }
  };
  const box = h("input", { type: "search", id: `f-find-${name}`, maxlength: 200, autocomplete: "off", spellcheck: "false", placeholder: t(`find_${name}`), "aria-label": t(`find_${name}`), oninput: () => {
    clearTimeout(timer);
    timer = setTimeout(look, PAUSE);
  } });
  return h("div", { class: "find-value" }, box, told);
}

function value(name, one, state, changed, most) {
  const box = h("input", { type: "checkbox", id: `f-${name}-${one.value}`, checked: state.getAll(name).includes(one.value), onchange: () => {
    const others = state.getAll(name).filter((held) => held !== one.value);
    state.delete(name);
    for (const held of box.checked ? [...others, one.value] : others) state.append(name, held);
    changed();
  } });
  return h("li", {}, h("label", {}, box, " ", quoted(shownValue(name, one.value)), h("span", { class: "dim" }, ` ${one.papers}`), bar(one.papers, most)));
}

function bar(papers, most) {
  return h("meter", { min: 0, max: most, value: papers, "aria-hidden": "true" });
}

function wide() {
  return matchMedia("(min-width: 60rem)").matches;
}

function shownValue(name, text) {
  const word = name === "language" ? t(`lang_${text}`) : text;
  return word === `lang_${text}` ? text : word;
}

function only(name, label, papers, state, set) {
  const box = h("input", { type: "checkbox", id: `f-${name}`, checked: state.has(name), disabled: !papers && !state.has(name), onchange: () => set(name, box.checked ? "true" : "") });
  return h("label", { class: "only-these" }, box, ` ${label}`, h("span", { class: "dim" }, ` ${papers}`));
}

function years(counts, state, set, changed) {
  const bound = (name, word) => h("input", { type: "number", id: `f-${name}`, min: 0, max: 9999, value: state.get(name) ?? "", placeholder: t(word), "aria-label": `${t("f_years")}: ${t(word)}`,
    onchange: (event) => set(name, event.target.value) });
  const most = Math.max(1, ...counts.map((one) => one.papers));
  const one = (year) => h("li", {}, h("button", { type: "button", class: "link", "aria-pressed": String(state.get("year_from") === year.value && state.get("year_to") === year.value), onclick: () => {
    const same = state.get("year_from") === year.value && state.get("year_to") === year.value;
    for (const name of ["year_from", "year_to"]) same ? state.delete(name) : state.set(name, year.value);
    changed();
  } }, year.value), bar(year.papers, most), h("span", { class: "dim" }, year.papers));
  return h("fieldset", {}, h("legend", {}, t("f_years")), h("div", { class: "year-bounds" }, bound("year_from", "from"), "–", bound("year_to", "to")),
    counts.length ? h("details", { open: wide() || state.has("year_from") || state.has("year_to") }, h("summary", {}, t("byYear")), h("ul", { class: "by-year" }, counts.map(one))) : null);
}
