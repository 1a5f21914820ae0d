// A study table that was made: it is sorted by any column, gets columns by a question and loses them again.

import { post, posted } from "../api.js";
import { answerTable } from "../ask/answer.js";
import { FORMS } from "../declared.js";
import { h, quoted, replace, saved, say } from "../dom.js";
import { t } from "../i18n.js";
import { warningsOf } from "./digest.js";

const MOST_COLUMNS = 12;

export class StudyTable {
  // `asked` is the request that it was made by; `renamed(columns)` is told when they change.
  constructor(digest, asked, signal, renamed) {
    Object.assign(this, { digest, asked, signal, renamed, by: null, up: true });
    this.table = digest.tables[0] ?? null;
    this.failed = h("p", { class: "error", role: "alert", hidden: true });
    this.place = h("div");
    this.told = h("div");
    this.element = this.table ? this.whole() : h("div", { class: "column told" }, warningsOf(digest), h("p", {}, t("compare_nothing")));
    if (this.table) this.draw();
  }

  whole() {
    this.question = h("input", { id: "add-column", type: "text", maxlength: 120, autocomplete: "off", required: true, placeholder: t("compare_add_hint") });
    this.adding = h("button", {}, t("compare_add_do"));
    const files = FORMS.table.map((form) => h("button", { type: "button", class: "small", onclick: () => this.save(form) }, form.label));
    return h("section", { class: "result stacked" }, this.told,
      h("div", { class: "row table-bar" },
        h("form", { class: "row add-column", onsubmit: (event) => this.add(event) }, h("div", { class: "field grow" }, h("label", { for: "add-column" }, t("compare_add")), this.question), this.adding),
        h("p", { class: "dim" }, t("count", this.digest.papers.length)),
        h("div", { class: "row files", role: "group", "aria-label": t("compare_files") }, files)),
      this.failed, this.place);
  }

  get names() {
    return this.table.columns.slice(1);
  }

  draw(focus = null) {
    replace(this.told, warningsOf(this.digest));
    const rows = this.by === null ? this.table.rows : this.sorted();
    const drawn = answerTable({ ...this.table, rows }, this.digest.citations, this.digest.collection);
    drawn.querySelectorAll("thead th").forEach((cell, place) => this.head(cell, place));
    replace(this.place, drawn);
    if (focus !== null) this.place.querySelectorAll("thead .sort")[focus]?.focus();
  }

  head(cell, place) {
    const name = this.table.columns[place];
    const sorted = this.by === place;
    cell.setAttribute("aria-sort", sorted ? (this.up ? "ascending" : "descending") : "none");
    const sort = h("button", { type: "button", class: "sort", title: t("compare_sort", name), onclick: () => this.sortBy(place) }, quoted(name), h("span", { "aria-hidden": "true" }, sorted ? (this.up ? " ↑" : " ↓") : ""));
    const remove = place && this.names.length > 1 ? h("button", { type: "button", class: "quiet remove", "aria-label": t("compare_remove", name), onclick: () => this.remove(place) }, "×") : null;
    replace(cell, h("span", { class: "head" }, sort, remove));
  }

  sortBy(place) {
    this.up = this.by === place ? !this.up : true;
    this.by = place;
    this.draw(place);
  }

  // Empty cells come last either way.
  sorted() {
    const text = (row) => (row[this.by].value ?? row[this.by].text).trim();
    const empty = (row) => !text(row) || text(row) === "–";
    const sign = this.up ? 1 : -1;
    return [...this.table.rows].sort((a, b) => empty(a) - empty(b) || sign * text(a).localeCompare(text(b), undefined, { numeric: true }));
  }

  remove(place) {
    for (const row of this.table.rows) row.splice(place, 1);
    this.table.columns.splice(place, 1);
    if (this.by !== null) this.by = this.by === place ? null : this.by - (this.by > place ? 1 : 0);
    this.renamed(this.names);
    this.draw(Math.min(place, this.names.length));
  }

  async add(event) {
    event.preventDefault();
    const name = this.question.value.trim();
    const problem = this.names.length >= MOST_COLUMNS ? t("compare_most_columns") : this.names.some((one) => one.toLocaleLowerCase() === name.toLocaleLowerCase()) ? t("compare_same", name) : null;
    if (problem) return this.fail(problem);
    if (!name || this.adding.disabled) return null;
    this.failed.hidden = true;
    this.adding.disabled = true;
    const waiting = h("p", { class: "working" }, h("span", { class: "spinner", "aria-hidden": "true" }), h("span", { role: "status" }, t("compare_adding", name)), h("button", { type: "button", class: "small", onclick: () => stop.abort() }, t("stop")));
    const stop = new AbortController();
    this.signal.addEventListener("abort", () => stop.abort());
    this.place.before(waiting);
    try {
      const body = { collection: this.digest.collection, columns: [name], paper_ids: this.digest.papers.map((paper) => paper.paper_id) };
      this.join(await post("/table", body, stop.signal), name);
      this.question.value = "";
      this.renamed(this.names);
      this.draw();
      say(t("compare_added", name));
    } catch (error) {
      if (error.name !== "AbortError") this.fail(error.message);
    } finally {
      waiting.remove();
      this.adding.disabled = false;
      this.question.focus();
    }
    return null;
  }

  // The column of another table of the same papers, with its citations numbered after ours.
  join(other, name) {
    const last = Math.max(0, ...this.digest.citations.map((citation) => citation.n));
    const made = other.tables[0];
    const cells = new Map((made?.rows ?? []).map((row) => [row[0].paper_id, row[1]]));
    this.table.columns.push(made?.columns[1] ?? name);
    for (const row of this.table.rows) {
      const cell = cells.get(row[0].paper_id) ?? { text: "–", citations: [], paper_id: null };
      row.push({ ...cell, citations: cell.citations.map((n) => n + last) });
    }
    this.digest.citations.push(...other.citations.map((citation) => ({ ...citation, n: citation.n + last })));
    this.digest.warnings = [...new Set([...this.digest.warnings, ...other.warnings])];
  }

  fail(text) {
    this.failed.hidden = false;
    replace(this.failed, text);
    return null;
  }

  // As it stands: the same papers, the columns that it has now.
  save(form) {
    const body = { collection: this.digest.collection, columns: this.names, paper_ids: this.digest.papers.map((paper) => paper.paper_id) };
    return saved(() => posted(`/table?format=${form.name}`, body), `${this.digest.collection}.${form.ending}`, this.failed);
  }
}
