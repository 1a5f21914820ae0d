// The conversation: the questions one after the other, and the form that asks the next one.

import { request, stream } from "../api.js";
import { h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { closeViewer } from "../paper/viewer.js";
import { addressOf, askedFrom, bodyOf, BUDGETS, paramsOf } from "./asked.js";
import { showExamples } from "./examples.js";
import { Filters } from "./filters.js";
import { forgetTalk, keepTalk, keptAnswer, keptTalk, noteQuestion, showPast } from "./history.js";
import { modeOptions } from "./modes.js";
import { Turn } from "./turn.js";

const REMEMBERED = 6;
const MODES_WITH_BUDGET = ["lazy", "multi"];

export class Conversation {
  constructor() {
    [this.info, this.running, this.list, this.shown] = [null, null, [], ""];
    this.filters = new Filters();
    this.turns = h("div", { class: "turns" });
    this.intro = h("div", { class: "intro" });
    this.examples = h("div", { class: "examples" });
    this.past = h("div", {});
    this.form = this.makeForm();
    this.element = h("div", { class: "ask" }, this.intro, this.turns, this.form, this.examples, this.past);
  }

  // What stands on an empty page, in the language of now.
  introduce() {
    replace(this.intro, h("h1", {}, t("headline")), h("p", {}, t("subline")));
    const { collection } = this.info;
    this.examples.dataset.collection = collection;
    showExamples(this.examples, this.info, (question) => this.further(question));
    showPast(this.past, collection);
  }

  // The same in another language; what papers say stays as it was said.
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
    this.filters.relabel();
    for (const turn of this.list) turn.relabel();
    this.showState();
  }

  makeForm() {
    this.input = h("textarea", {
      id: "question", rows: 2, maxlength: 10000, required: true, placeholder: t("placeholder"),
      onkeydown: (event) => this.key(event), oninput: () => this.grow(),
    });
    this.mode = h("select", { id: "mode", onchange: () => this.describe() });
    this.budget = h("select", { id: "budget" }, BUDGETS.map((name) => h("option", { value: name }, t(`budget_${name}`))));
    this.about = h("p", { class: "dim about", id: "about-mode" });
    this.mode.setAttribute("aria-describedby", "about-mode");
    this.budgetField = field("budget", this.budget);
    this.send = h("button", { type: "submit", class: "primary" }, t("send"));
    this.stopper = h("button", { type: "button", hidden: true, onclick: () => this.stop() }, t("stop"));
    this.fresh = h("button", { type: "button", class: "quiet", hidden: true, onclick: () => this.clear() }, t("fresh"));
    return h("form", { class: "question", onsubmit: (event) => this.submit(event), onfocusin: (event) => event.currentTarget.classList.add("in-use") },
      h("label", { for: "question" }, t("question")), this.filters.chips, this.input,
      h("div", { class: "row" }, field("mode", this.mode), this.budgetField, this.filters.panel,
        h("div", { class: "row end" }, this.fresh, this.stopper, this.send)),
      this.about);
  }

  // The collection that is asked; what restricts questions to papers of another one falls away, and so does what was
  // said of those: another conversation begins.
  choose(info) {
    const another = this.info?.collection !== info.collection;
    this.filters.choose(info.collection);
    this.info = info;
    this.offerModes();
    if (another) this.empty();
  }

  offerModes() {
    const before = this.mode.value;
    replace(this.mode, modeOptions(this.info.modes));
    this.mode.value = this.info.modes.includes(before) ? before : "auto"; // counts, themes and comparisons are answered by no other
    this.describe();
  }

  describe() {
    this.about.textContent = `${t("count", this.info.papers)} · ${t(`about_${this.mode.value}`)}`;
    this.budgetField.hidden = !MODES_WITH_BUDGET.includes(this.mode.value);
  }

  restrict(filters, label) {
    this.filters.set(filters, label);
  }

  // To the end of the conversation, where the box stands with what the next question is restricted to.
  lead() {
    scrollTo(0, document.documentElement.scrollHeight);
    this.filters.show();
  }

  // A question that an address asks, with its settings (see `asked.js`); one that stands there already is not asked again.
  askOf(params) {
    const asked = askedFrom(params);
    if (this.running || !asked.query || String(params) === this.shown) return;
    const there = this.list.findLast((turn) => String(paramsOf(turn.asked)) === String(params));
    if (there) return this.lookAt(there); // Back and forward go through the conversation
    if (!this.info.modes.includes(asked.mode)) asked.mode = this.mode.value;
    if (!MODES_WITH_BUDGET.includes(asked.mode)) asked.budget = null;
    else asked.budget ??= this.budget.value;
    this.filters.set(asked.filters, asked.label);
    if (asked.snapshot) this.list = this.list.filter((turn) => turn.element.remove()); // a link shows one answer, alone
    const kept = keptAnswer(this.info, asked);
    if (kept) this.give(asked, kept);
    else this.ask(asked);
  }

  lookAt(turn) {
    this.shown = String(paramsOf(turn.asked));
    turn.element.scrollIntoView({ block: "start" });
    turn.heading.focus({ preventScroll: true });
  }

  // A question that this browser has the answer to.
  give(asked, result) {
    const turn = this.add(asked);
    turn.restore(result);
    keepTalk(turn.collection, this.list);
    this.lookAt(turn);
    this.showState();
  }

  add(asked, alone) {
    const turn = new Turn(asked, this.info.collection, this, alone);
    this.list.push(turn);
    this.turns.append(turn.element);
    return turn;
  }

  // The conversation that the tab had before it was loaded again; of papers that changed since only the questions.
  restore(params) {
    const kept = keptTalk();
    if (!kept || kept.collection !== this.info.collection) return;
    const last = kept.turns.findLast(({ asked }) => !params.has("q") || String(paramsOf(asked)) === String(params));
    if (!last) return;
    for (const { asked, alone, result } of kept.turns) {
      const turn = this.add(asked, alone);
      if (result.snapshot_id === this.info.snapshot_id) turn.restore(result);
      else turn.changed();
    }
    this.show(last.asked);
    this.showState();
  }

  key(event) {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      this.form.requestSubmit();
    } else if (event.key === "Escape" && !event.isComposing && !document.body.classList.contains("viewing")) {
      this.list.at(-1)?.heading.focus(); // from the box, the last thing on the page, to the answer and its citations
    }
  }

  grow() {
    const least = this.list.length ? 1 : 2;
    this.input.rows = Math.min(8, Math.max(least, this.input.value.split("\n").length, Math.ceil(this.input.value.length / 70)));
  }

  clear() {
    closeViewer();
    this.empty();
    forgetTalk();
    history.pushState(null, "", `#/ask/${encodeURIComponent(this.info.collection)}`);
    this.input.focus();
  }

  empty() {
    this.running?.abort.abort();
    [this.running, this.list, this.shown] = [null, [], ""];
    replace(this.turns);
    this.introduce();
    this.showState();
  }

  submit(event) {
    event.preventDefault();
    const query = this.input.value.trim();
    if (!query || this.running) return;
    this.ask({
      query, mode: this.mode.value, budget: this.budgetField.hidden ? null : this.budget.value,
      filters: structuredClone(this.filters.values), label: this.filters.label, snapshot: null,
    });
  }

  further(question) {
    if (this.running) return;
    this.input.value = question;
    this.form.requestSubmit();
  }

  ask(asked) {
    const turn = this.add(asked);
    this.mode.value = "auto"; // the mode of one question is not that of the next
    this.describe();
    return this.run(turn);
  }

  async run(turn) {
    const mine = (this.running = { abort: new AbortController(), id: null });
    const before = this.list.slice(0, this.list.indexOf(turn)).flatMap((one) => one.said).slice(-REMEMBERED);
    this.show(turn.asked);
    noteQuestion(turn.collection, turn.asked);
    turn.begin();
    this.showState();
    turn.element.scrollIntoView({ block: "start", behavior: calm() });
    try {
      await stream(bodyOf(turn.collection, turn.asked, turn.alone || turn.asked.snapshot ? [] : before), (heard) => turn.heard(heard), mine.abort.signal, (id) => (mine.id = id));
      turn.finish();
    } catch (error) {
      turn.fail(error);
    }
    if (this.running === mine) this.running = null;
    if (!this.list.includes(turn)) return; // a new conversation began meanwhile
    if (turn.result) {
      keepTalk(turn.collection, this.list);
      if (!before.length || turn.alone) noteQuestion(turn.collection, turn.asked, turn.result);
      if (this.input.value.trim() === turn.asked.query) this.input.value = "";
      const reading = document.activeElement === turn.heading; // who lets it go on reads on from there
      if (matchMedia("(min-width: 60rem)").matches && !reading && !this.element.querySelector(".failure button")) this.input.focus({ preventScroll: true });
    }
    this.showState();
  }

  // The service ends the search with what it has; who presses again does not wait for that.
  async stop() {
    const mine = this.running;
    if (!mine?.id || mine.stopping) return mine?.abort.abort();
    mine.stopping = true;
    this.showState();
    await request(`/search/${mine.id}/stop`, { method: "POST" }).catch(() => mine.abort.abort());
  }

  // The address says what is shown, so that it can be kept, sent and loaded again; each question is a step of the
  // browser's history.
  show(asked) {
    this.shown = String(paramsOf(asked));
    const address = addressOf(this.info.collection, asked);
    const here = new URLSearchParams(location.hash.split("?")[1]);
    if (!location.hash || String(here) === this.shown) history.replaceState(null, "", address);
    else if (location.hash.startsWith("#/ask")) history.pushState(null, "", address);
  }

  showState() {
    const begun = this.list.length > 0;
    this.intro.classList.toggle("unseen", begun); // the page keeps its heading
    this.examples.hidden = this.past.hidden = begun;
    this.form.classList.toggle("compact", begun);
    this.send.hidden = Boolean(this.running);
    this.stopper.hidden = !this.running;
    this.stopper.textContent = t(this.running?.stopping ? "stopping" : "stop");
    this.fresh.hidden = Boolean(this.running) || !begun;
    this.input.placeholder = t(this.list.some((turn) => turn.result) ? "followPlaceholder" : "placeholder");
    this.grow();
  }
}

// On a telephone the settings are there while the box is in use.
addEventListener("pointerdown", (event) => {
  for (const form of document.querySelectorAll("form.in-use")) if (!form.contains(event.target)) form.classList.remove("in-use");
});

function field(name, control) {
  return h("div", { class: "field" }, h("label", { for: control.id }, t(name)), control);
}

function calm() {
  return matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth";
}
