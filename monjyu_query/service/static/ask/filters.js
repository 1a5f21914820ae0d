// What questions are restricted to: chips that can be taken off, and a panel to add years, authors, sections, languages.

import { json } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { isEmpty } from "./asked.js";
import "./words.js";

const SECTIONS = ["abstract", "introduction", "related_work", "methods", "experiments", "results", "discussion", "conclusion", "appendix"];

let pressing = false;
addEventListener("pointerdown", () => (pressing = true), { capture: true });
for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => (pressing = false), { capture: true });

export class Filters {
  constructor() {
    [this.values, this.label, this.collection, this.facets] = [{}, "", null, null];
    this.chips = h("ul", { class: "restrictions", "aria-label": t("filters"), hidden: true });
    this.inside = h("div", { class: "inside" });
    this.summary = h("summary", {}, t("filters"));
    this.panel = h("details", { class: "filters", ontoggle: () => this.panel.open && this.fill() }, this.summary, this.inside);
  }

  set(values, label = "") {
    [this.values, this.label] = [structuredClone(values ?? {}), label];
    this.draw();
    if (this.panel.open) this.fill();
  }

  // Of another collection what was chosen means nothing.
  choose(collection) {
    if (this.collection && this.collection !== collection) this.set({});
    if (this.collection !== collection) [this.collection, this.facets] = [collection, null];
  }

  change(name, value) {
    this.values = { ...this.values, [name]: value };
    if (isEmpty({ one: value })) delete this.values[name];
    this.draw();
  }

  // Not while a pointer is down: what one is about to press would move away.
  draw() {
    if (pressing) return addEventListener("pointerup", () => setTimeout(() => this.draw()), { once: true });
    const chips = chipsOf(this.values, this.label);
    this.chips.hidden = !chips.length;
    this.summary.textContent = chips.length ? `${t("filters")} (${chips.length})` : t("filters");
    replace(this.chips, h("li", { class: "dim" }, t("only")), chips.map(({ text, without }) => h("li", { class: "restriction" }, quoted(text),
      h("button", { type: "button", class: "quiet", "aria-label": t("chipOff", text), onclick: () => this.takeOff(without, text) }, "×"))));
  }

  // Seen and heard, for who comes from elsewhere.
  show() {
    const named = [...this.chips.querySelectorAll(".restriction bdi")].map((one) => one.textContent);
    say(`${t("only")}${named.join(", ")}`);
    this.chips.classList.remove("fresh");
    requestAnimationFrame(() => this.chips.classList.add("fresh"));
  }

  takeOff(without, text) {
    this.set(without, without.paper_ids ? this.label : "");
    say(t("chipGone", text));
    (this.chips.querySelector("button") ?? document.getElementById("question"))?.focus();
  }

  async fill() {
    const collection = this.collection;
    if (!this.facets) {
      this.facets = await json(`/library?${new URLSearchParams({ collection, limit: 1 })}`).then((page) => page.facets).catch(() => ({ authors: [], languages: [], years: [] }));
    }
    if (collection !== this.collection) return;
    const { languages, authors, years } = this.facets;
    replace(this.inside,
      h("div", { class: "row" }, this.year("year_from", years.at(0)?.value), this.year("year_to", years.at(-1)?.value), this.author(authors)),
      this.boxes("section_types", t("sections"), SECTIONS.map((name) => [name, t(`section_${name}`)])),
      languages.length > 1 ? this.boxes("languages", t("languages"), languages.map((one) => [one.value, nameOf(one.value)])) : null);
  }

  year(name, example) {
    const input = h("input", {
      id: `filter-${name}`, type: "number", min: 0, max: 9999, placeholder: example, value: this.values[name], onkeydown: (event) => event.key === "Enter" && stay(event),
      onchange: () => this.change(name, input.value && input.checkValidity() ? Number(input.value) : undefined),
    });
    return h("div", { class: "field year" }, h("label", { for: input.id }, t(name)), input);
  }

  author(known) {
    const add = () => {
      const name = input.value.trim();
      if (name) this.change("authors", [...new Set([...(this.values.authors ?? []), name])]);
      input.value = "";
    };
    const input = h("input", { id: "filter-author", list: "filter-authors", maxlength: 200, autocomplete: "off", onchange: add, onkeydown: (event) => event.key === "Enter" && (stay(event), add()) });
    return h("div", { class: "field grow" }, h("label", { for: input.id }, t("filterAuthor")), input,
      h("datalist", { id: "filter-authors" }, known.map((one) => h("option", { value: one.value }))));
  }

  boxes(name, title, choices) {
    const chosen = new Set(this.values[name] ?? []);
    return h("fieldset", { class: "boxes" }, h("legend", {}, title), choices.map(([value, text]) => h("label", {},
      h("input", { type: "checkbox", checked: chosen.has(value), onchange: (event) => {
        if (event.target.checked) chosen.add(value);
        else chosen.delete(value);
        this.change(name, [...chosen]);
      } }), " ", text)));
  }

  relabel() {
    this.chips.setAttribute("aria-label", t("filters"));
    this.draw();
    if (this.panel.open) this.fill();
  }
}

function stay(event) {
  event.preventDefault(); // Enter in a filter asks nothing
  event.stopPropagation();
}

// `[{ text, without }]`: each restriction in words, and the filters without it.
export function chipsOf(filters, label) {
  const chips = [];
  const off = (name, value) => {
    const left = { ...filters };
    if (value === undefined) delete left[name];
    else if (!(left[name] = left[name].filter((one) => one !== value)).length) delete left[name];
    return left;
  };
  if (filters.year_from) chips.push({ text: t("chipFrom", filters.year_from), without: off("year_from") });
  if (filters.year_to) chips.push({ text: t("chipTo", filters.year_to), without: off("year_to") });
  for (const name of filters.authors ?? []) chips.push({ text: name, without: off("authors", name) });
  for (const name of filters.section_types ?? []) chips.push({ text: t(`section_${name}`), without: off("section_types", name) });
  for (const name of filters.languages ?? []) chips.push({ text: nameOf(name), without: off("languages", name) });
  for (const name of [...(filters.tags ?? []), ...(filters.shelves ?? [])]) chips.push({ text: name, without: off(filters.tags?.includes(name) ? "tags" : "shelves", name) });
  if (filters.paper_ids?.length) chips.push({ text: label || t("count", filters.paper_ids.length), without: off("paper_ids") });
  return chips;
}

function nameOf(code) {
  try {
    return new Intl.DisplayNames([document.documentElement.lang], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}
