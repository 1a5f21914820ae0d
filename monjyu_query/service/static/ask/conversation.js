// The conversation: a question, the search as it goes, the answer; then the next question.

import { ApiError, stream } from "../api.js";
import { answerBlocks, renderResult } from "./answer.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { Progress } from "./progress.js";
import { closeViewer } from "../paper/viewer.js";

const BUDGETS = ["z100", "z500", "z1500"];
const REMEMBERED = 6;
const MODES_WITH_BUDGET = ["lazy", "multi"];

export class Conversation {
  constructor() {
    this.info = null;
    this.history = [];
    this.running = null;
    this.filters = {};
    this.label = "";
    this.turns = h("div", { class: "turns" });
    this.intro = h("div", { class: "intro" });
    this.form = this.makeForm();
    this.introduce();
    this.element = h("div", { class: "ask" }, this.intro, this.turns, this.form);
  }

  introduce() {
    replace(this.intro, h("h1", {}, t("headline")), h("p", {}, t("subline")));
  }

  // The same form in another language; what was said stays as it was said.
  relabel() {
    const [asked, mode, budget] = [this.input, this.mode, this.budget].map((control) => control.value);
    const before = this.form;
    this.form = this.makeForm();
    before.replaceWith(this.form);
    this.input.value = asked;
    this.offerModes();
    [this.mode.value, this.budget.value] = [mode, budget];
    this.describe();
    this.introduce();
    this.restrict(this.filters, this.label);
    this.showState();
  }

  makeForm() {
    this.input = h("textarea", {
      id: "question", rows: 2, maxlength: 10000, required: true, placeholder: t("placeholder"),
      onkeydown: (event) => this.key(event), oninput: () => this.grow(),
    });
    this.mode = h("select", { id: "mode", onchange: () => this.describe() });
    this.budget = h("select", { id: "budget" }, BUDGETS.map((name) => h("option", { value: name }, t("tests", name.slice(1)))));
    this.about = h("p", { class: "dim about", id: "about-mode" });
    this.mode.setAttribute("aria-describedby", "about-mode");
    this.budgetField = field("budget", this.budget);
    this.send = h("button", { type: "submit", class: "primary" }, t("send"));
    this.stopper = h("button", { type: "button", hidden: true, onclick: () => this.running?.abort() }, t("stop"));
    this.fresh = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.clear() }, t("fresh"));
    this.only = h("p", { class: "only", hidden: true });
    const form = h("form", { class: "question", onsubmit: (event) => this.submit(event) },
      h("label", { for: "question" }, t("question")), this.only, this.input,
      h("div", { class: "row" }, field("mode", this.mode), this.budgetField,
        h("div", { class: "row end" }, this.fresh, this.stopper, this.send)),
      this.about);
    return form;
  }

  // The collection that is asked; what restricts questions to papers of another one falls away.
  choose(info) {
    if (this.info && this.info.collection !== info.collection) this.restrict({}, "");
    this.info = info;
    this.offerModes();
  }

  offerModes() {
    const before = this.mode.value;
    replace(this.mode, this.info.modes.map((mode) => h("option", { value: mode }, t(`mode_${mode}`))));
    const usual = this.info.level > 0 && this.info.modes.includes("lazy") ? "lazy" : "auto";
    this.mode.value = this.info.modes.includes(before) ? before : usual;
    this.describe();
  }

  describe() {
    this.about.textContent = `${t("count", this.info.papers)}, ${t("level", this.info.level)}. ${t(`about_${this.mode.value}`)}`;
    this.budgetField.hidden = !MODES_WITH_BUDGET.includes(this.mode.value);
  }

  restrict(filters, label) {
    [this.filters, this.label] = [filters, label];
    this.only.hidden = !label;
    replace(this.only, t("only"), quoted(label), " ",
      h("button", { type: "button", class: "quiet small", onclick: () => this.restrict({}, "") }, t("remove")));
  }

  // A question that an address asks: `?q=...&mode=...&budget=...`.
  askOf(params) {
    if (this.running || !params.get("q")) return;
    this.input.value = params.get("q");
    if (this.info.modes.includes(params.get("mode"))) this.mode.value = params.get("mode");
    const budget = `z${params.get("budget")}`;
    if (BUDGETS.includes(budget)) this.budget.value = budget;
    this.describe();
    this.form.requestSubmit();
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.form.requestSubmit();
    }
  }

  grow() {
    const least = this.turns.childElementCount ? 1 : 2;
    this.input.rows = Math.min(8, Math.max(least, this.input.value.split("\n").length, Math.ceil(this.input.value.length / 70)));
  }

  clear() {
    this.running?.abort();
    this.history = [];
    closeViewer();
    replace(this.turns);
    this.intro.classList.remove("unseen");
    this.showState();
    this.input.focus();
  }

  request(query) {
    const mode = this.mode.value;
    return {
      query, collection: this.info.collection, mode, history: this.alone ? [] : this.history.slice(-REMEMBERED),
      ...(this.budgetField.hidden ? {} : { budget: this.budget.value }),
      ...(this.label ? { filters: this.filters } : {}),
    };
  }

  async submit(event) {
    event.preventDefault();
    const query = this.input.value.trim();
    if (!query || this.running) return;
    const turn = new Turn(query, this.info.collection, () => this.again(turn), () => this.askAlone(turn));
    turn.further = (question) => this.further(question);
    this.intro.classList.add("unseen"); // the page keeps its heading
    this.turns.append(turn.element);
    this.busy(true);
    turn.element.scrollIntoView({ block: "start", behavior: calm() });
    try {
      await stream(this.request(query), (heard) => turn.heard(heard), this.running.signal);
      turn.finish();
    } catch (error) {
      turn.fail(error);
    }
    this.busy(false);
    this.alone = false;
    if (turn.result) this.remember(turn);
  }

  again(turn) {
    if (this.running) return;
    turn.element.remove();
    this.input.value = turn.query;
    this.form.requestSubmit();
  }

  further(question) {
    if (this.running) return;
    this.input.value = question;
    this.form.requestSubmit();
  }

  // A follow-up asked again without what was said before.
  askAlone(turn) {
    if (this.running) return;
    this.history = this.history.filter((said) => !turn.remembered.includes(said));
    this.alone = true;
    this.again(turn);
  }

  busy(now) {
    this.running = now ? new AbortController() : null;
    this.showState();
  }

  showState() {
    const begun = this.turns.childElementCount > 0;
    this.form.classList.toggle("compact", begun);
    this.send.hidden = Boolean(this.running);
    this.stopper.hidden = !this.running;
    this.fresh.hidden = Boolean(this.running) || !begun;
    this.input.placeholder = t(this.history.length ? "followPlaceholder" : "placeholder");
    this.grow();
  }

  remember(turn) {
    turn.remembered = [{ role: "user", content: turn.query }, { role: "assistant", content: turn.result.answer }];
    this.history.push(...turn.remembered);
    this.input.value = "";
    this.showState();
    if (matchMedia("(min-width: 60rem)").matches) this.input.focus({ preventScroll: true });
  }
}

class Turn {
  constructor(query, collection, again, alone) {
    [this.query, this.collection, this.again, this.alone] = [query, collection, again, alone];
    this.remembered = [];
    this.progress = new Progress();
    this.body = h("div", { class: "body", "aria-busy": "true" }, this.progress.element);
    this.written = null;
    this.said = { segments: [], citations: [] };
    this.result = null;
    this.element = h("article", { class: "turn" }, h("h2", { class: "asked" }, query), this.body);
    say(t("searching"));
  }

  heard(event) {
    if (event.event === "done") this.result = event;
    else if (event.event === "error") throw new ApiError(0, event.error);
    else if (event.event === "answer") this.write(event);
    else this.progress.heard(event);
  }

  // A model's sentences come one by one, the whole answer with `done`.
  write(event) {
    if (event.text === undefined) return;
    if (!this.written) this.body.append((this.written = h("div", { class: "answer" })));
    this.said.segments.push(...event.segments);
    this.said.citations.push(...event.citations);
    replace(this.written, answerBlocks(this.said.segments, this.said.citations, this.collection));
  }

  finish() {
    this.written?.remove();
    this.progress.end();
    this.body.setAttribute("aria-busy", "false");
    if (!this.result) return this.fail(new Error(t("failed")));
    if (this.result.resolved_query) {
      this.body.append(h("p", { class: "dim" }, t("askedAs"), quoted(this.result.resolved_query), " ",
        h("button", { type: "button", class: "quiet small", onclick: this.alone }, t("askAlone"))));
    }
    this.body.append(renderResult(this.result, this.further));
    say(t("answered"));
  }

  fail(error) {
    const stopped = error.name === "AbortError";
    this.progress.end();
    if (stopped) this.progress.element.open = true;
    this.body.setAttribute("aria-busy", "false");
    this.body.append(h("p", { class: stopped ? "dim" : "error", role: "alert" }, stopped ? t(this.progress.claims.length ? "foundSoFar" : "stopped") : error.message));
    if (!stopped) this.body.append(h("button", { type: "button", onclick: this.again }, t("again")));
  }
}

function field(name, control) {
  return h("div", { class: "field" }, h("label", { for: control.id }, t(name)), control);
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
