// A question to be saved, and what its answers must hold. From an answer, the papers that it cites are offered.

import { post } from "../api.js";
import { Picker } from "../compare/picker.js";
import "../compare/words.js";
import { h, quoted, replace } from "../dom.js";
import { modeOptions } from "../ask/modes.js";
import { t } from "../i18n.js";
import { address } from "./address.js";
import { draftFor, dropDraft } from "./draft.js";
import { askNext } from "./list.js";
import { shortened } from "./outcome.js";

const MODES = ["auto", "hybrid", "vector", "keyword", "lazy", "local", "global", "multi"];
const LONGEST_TEXT = 2000; // of a sentence that is expected
const MOST = 50; // papers of a question

// `saved`: the question that is changed; null for a new one.
export function questionForm({ name, go }, { titles }, saved) {
  const draft = saved ? null : draftFor(name);
  const begun = saved ?? draft;
  const expect = saved?.expect ?? {};
  const text = h("textarea", { id: "qs-text", rows: 2, maxlength: 10000, required: true, "data-first": true });
  text.value = begun?.text ?? "";
  const mode = h("select", { id: "qs-mode" }, modeOptions(MODES, begun?.mode));
  const severity = h("select", { id: "qs-severity" }, ["warn", "block"].map((one) => h("option", { value: one, selected: one === saved?.severity }, t(`qsSeverity_${one}`))));
  const papers = new Papers(name, saved ? rowsOf(expect, titles) : (draft?.papers ?? []).map(offered));
  const words = h("textarea", { id: "qs-words", rows: 2, class: "words", "aria-describedby": "qs-words-hint" });
  words.value = (expect.must_mention ?? []).join("\n");
  const least = h("input", { id: "qs-least", type: "number", min: 1, max: 1000, inputmode: "numeric", value: expect.min_papers ?? "" });
  const same = h("input", { id: "qs-same", type: "checkbox", checked: expect.same_answer });
  const abstains = h("input", { id: "qs-abstains", type: "checkbox", checked: saved ? expect.must_abstain : draft?.abstained });
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const field = (word, box, hint = null) => h("div", { class: "field" }, h("label", { for: box.id }, t(word)), box, hint);
  const tick = (word, box) => h("label", { class: "tick" }, box, h("span", {}, t(word)));
  const submit = async (event) => {
    event.preventDefault();
    const send = form.querySelector("button.primary");
    if (send.ariaBusy === "true") return;
    send.ariaBusy = "true";
    failed.hidden = true;
    const wanted = {
      ...papers.expected(), must_mention: words.value.split("\n").map((one) => one.trim()).filter(Boolean), must_abstain: abstains.checked,
      min_papers: least.value ? Number(least.value) : null, same_answer: same.checked,
    };
    const budget = ["lazy", "multi", "auto"].includes(mode.value) ? begun?.budget ?? null : null;
    try {
      const kept = await post("/questions", { collection: name, ...(saved ? { id: saved.id } : {}), text: text.value.trim(), mode: mode.value, budget, severity: severity.value, expect: wanted });
      dropDraft();
      askNext(kept.id);
      go("questions", name);
    } catch (error) {
      failed.hidden = false;
      replace(failed, error.message);
      send.ariaBusy = null;
    }
  };
  const form = h("form", { class: "question-form stacked", onsubmit: submit }, field("question", text),
    draft?.restricted ? h("p", { class: "warnings" }, t("qsRestricted")) : null,
    h("div", { class: "row" }, field("mode", mode), h("div", { class: "grow" }, field("qsSeverity", severity))),
    h("fieldset", {}, h("legend", {}, t("qsExpected")), h("p", { class: "dim" }, t(draft?.papers.length ? "qsOffered" : "qsPapersHint")), papers.element,
      field("qsWords", words, h("p", { class: "dim hint", id: "qs-words-hint" }, t("qsWordsHint"))), h("div", { class: "least" }, field("qsLeast", least)), tick("qsSameBox", same), tick("qsAbstainsBox", abstains)),
    failed, h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("qsSave")), h("a", { href: address(name), onclick: dropDraft }, t("cancel"))));
  return form;
}

// A row is `{ paper, title, choices, at }`: what may be expected of the paper, and which of these is chosen.
function offered({ paper, title, places }) {
  const pages = [...new Set(places.map((place) => place.page).filter(Boolean))];
  const choices = [null, {}, ...pages.map((page) => ({ page })), ...places.map(({ text }) => ({ text: text.slice(0, LONGEST_TEXT) })), "not"];
  return { paper, title, choices, at: 1 };
}

function rowsOf(expect, titles) {
  const title = (id) => titles[id] ?? id;
  const placed = expect.must_cite.map(({ paper, text, page }) => {
    const own = Object.fromEntries(Object.entries({ text, page }).filter(([, value]) => value));
    const more = Object.keys(own).length ? [own] : [];
    return { paper, title: title(paper), choices: [null, {}, ...more, "not"], at: 1 + more.length };
  });
  return [...placed, ...expect.must_not_cite.map((paper) => ({ paper, title: title(paper), choices: [null, {}, "not"], at: 2 }))];
}

class Papers {
  constructor(collection, rows) {
    this.rows = rows;
    this.list = h("ul", { class: "plain expected-papers" });
    this.picker = new Picker(collection, MOST, [], () => this.take());
    this.element = h("div", {}, this.list, this.picker.element);
    this.draw();
  }

  // What was picked becomes a row.
  take() {
    for (const { paper_id: paper, title } of this.picker.chosen.splice(0)) this.rows.push({ paper, title: title || paper, choices: [null, {}, "not"], at: 1 });
    this.picker.draw();
    this.draw();
  }

  draw() {
    replace(this.list, this.rows.map((row) => h("li", {}, h("span", { class: "title" }, quoted(row.title || row.paper)),
      h("select", { "aria-label": t("qsOfPaper", row.title || row.paper), onchange: (event) => (row.at = Number(event.currentTarget.value)) },
        row.choices.map((choice, place) => h("option", { value: place, selected: place === row.at }, wording(choice)))))));
  }

  expected() {
    const chosen = this.rows.map((row) => [row.paper, row.choices[row.at]]);
    return {
      must_cite: chosen.filter(([, choice]) => choice && choice !== "not").map(([paper, place]) => ({ paper, ...place })),
      must_not_cite: chosen.filter(([, choice]) => choice === "not").map(([paper]) => paper),
    };
  }
}

function wording(choice) {
  if (choice === null) return t("qsAny");
  if (choice === "not") return t("qsMustNot");
  const { page, text } = choice;
  if (text) return t("qsMustText", shortened(text, 60), page);
  return page ? t("qsMustPage", page) : t("qsMust");
}
