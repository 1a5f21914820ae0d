// What questions are restricted to: chips that can be taken off, and a form with an input for each filter that has a label.

import { json } from "../api.js";
import { FILTERS } from "../declared.js";
import { h, quoted, replace, say } from "../dom.js";
import { currentLanguage, t } from "../i18n.js";
import { isEmpty } from "./asked.js";
import "./words.js";

const NOT_OFFERED = ["acknowledgments", "references", "other"]; // sections in which nobody looks for an answer
const ONLY_KNOWN = ["tags", "shelves"]; // not asked for where the collection has none

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
      this.facets = await json(`/library?${new URLSearchParams({ collection, limit: 1 })}`).then((page) => page.facets).catch(() => ({}));
    }
    if (collection !== this.collection) return;
    const inputs = FILTERS.filter((field) => field.labels).map((field) => this.input(field, (this.facets[field.name] ?? []).map((one) => one.value)));
    const typed = inputs.filter((input) => input?.tagName === "DIV");
    replace(this.inside, h("div", { class: "row" }, typed), inputs.filter((input) => !typed.includes(input)));
  }

  // Numbers and texts are typed, what has few values has boxes; null where the collection leaves no choice.
  input(field, known) {
    const { name, one, kind, many, choices } = field;
    if (kind === "boolean") return this.boxes(name, "", [[true, labelOf(field)]], (chosen) => chosen[0]);
    if (choices) return this.boxes(name, labelOf(field), choices.filter((choice) => !NOT_OFFERED.includes(choice)).map((choice) => [choice, wordOf(field, choice)]));
    if (name === "languages") return known.length > 1 ? this.boxes(name, labelOf(field), known.map((code) => [code, wordOf(field, code)])) : null;
    if (ONLY_KNOWN.includes(name) && !known.length) return null;
    const years = (this.facets.years ?? []).map((year) => year.value);
    const change = () => {
      const value = input.value.trim();
      if (!many) return this.change(name, value && input.checkValidity() ? Number(value) : undefined);
      if (value) this.change(name, [...new Set([...(this.values[name] ?? []), value])]);
      input.value = "";
    };
    const input = h("input", {
      id: `filter-${one}`, autocomplete: "off", onchange: change, onkeydown: (event) => event.key === "Enter" && (stay(event), many && change()),
      ...(many ? { list: `filter-${name}`, maxlength: 200 } : { type: "number", min: 0, max: 9999, value: this.values[name], placeholder: years.at(name === "year_to" ? -1 : 0) }),
    });
    return h("div", { class: `field ${many ? "grow" : "year"}` }, h("label", { for: input.id }, labelOf(field)), input,
      many ? h("datalist", { id: `filter-${name}` }, known.map((value) => h("option", { value }))) : null);
  }

  boxes(name, title, choices, valueOf = (chosen) => chosen) {
    const chosen = new Set([this.values[name] ?? []].flat());
    return h("fieldset", { class: "boxes" }, title ? h("legend", {}, title) : null, choices.map(([value, text]) => h("label", {},
      h("input", { type: "checkbox", checked: chosen.has(value), onchange: (event) => {
        if (event.target.checked) chosen.add(value);
        else chosen.delete(value);
        this.change(name, valueOf([...chosen]));
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
  for (const field of FILTERS.filter((one) => one.labels)) {
    const { name, many } = field;
    if (many) for (const value of filters[name] ?? []) chips.push({ text: wordOf(field, value), without: off(name, value) });
    else if ((filters[name] ?? null) !== null) chips.push({ text: wordOf(field, filters[name]), without: off(name) });
  }
  if (filters.paper_ids?.length) chips.push({ text: label || t("count", filters.paper_ids.length), without: off("paper_ids") });
  return chips;
}

function labelOf(field) {
  return field.labels[currentLanguage()];
}

// A value as a reader knows it.
function wordOf(field, value) {
  if (field.name === "languages") return languageOf(value);
  if (field.choices) return t(`${field.one}_${value}`);
  if (field.many) return value;
  return value === true ? labelOf(field) : `${labelOf(field)}: ${value}`;
}

function languageOf(code) {
  try {
    return new Intl.DisplayNames([document.documentElement.lang], { type: "language" }).of(code) ?? code;
  } catch {
    return code;
  }
}
