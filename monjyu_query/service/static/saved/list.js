// The saved questions, each with what is expected, what the published snapshot answers, and the outcome at each snapshot.

import { isEditor, post, request } from "../api.js";
import { answerBlocks } from "../ask/answer.js";
import { addressOf } from "../ask/asked.js";
import { confirmed } from "../dialog.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { when } from "../operate/shared.js";
import { address } from "./address.js";
import { expected, failures, verdict } from "./outcome.js";

const TOGETHER = 5; // questions asked by one request, so that outcomes come one after the other
let justSaved = null;

// The form has saved it: the list asks it.
export function askNext(id) {
  justSaved = id;
}

export class QuestionList {
  constructor(context, listing) {
    Object.assign(this, { context, listing, may: isEditor(context.who), running: false, asking: new Set() });
    this.first = justSaved;
    justSaved = null;
    this.told = h("p", { role: "status", class: "dim", hidden: true });
    this.failed = h("p", { class: "error", role: "alert", hidden: true });
    this.body = h("ol", { class: "plain question-list" });
    this.bar = h("div", { class: "row question-bar" });
    this.element = h("div", {}, this.bar, this.told, this.failed, this.body);
    this.draw();
    if (this.first && this.may) this.run([this.first]);
  }

  draw() {
    const { name } = this.context;
    const { questions, snapshots } = this.listing;
    replace(this.bar, this.may ? h("a", { class: "button primary", href: address(name, "new") }, t("qsNew")) : null,
      this.may && questions.length ? h("button", { type: "button", onclick: () => this.run(questions.map((one) => one.id)) }, t("qsRunAll")) : null,
      questions.length && snapshots.length > 1 ? h("a", { href: address(name, "changes") }, t("qsChanges")) : null, this.tally());
    replace(this.body, questions.map((one) => this.card(one)));
    if (!questions.length) replace(this.body, h("li", {}, h("p", {}, t("qsNone")), h("p", { class: "dim" }, t("qsNoneLine"))));
  }

  tally() {
    const outcomes = this.listing.questions.filter((one) => one.answer);
    return outcomes.length ? h("span", { class: "dim" }, t("qsTally", outcomes.filter((one) => !one.answer.failures.length).length, this.listing.questions.length)) : null;
  }

  card(question) {
    const { titles } = this.listing;
    const { name } = this.context;
    const now = question.answer;
    const asked = { query: question.text, mode: question.mode, budget: question.budget, filters: {} };
    const busy = this.asking.has(question.id);
    return h("li", { id: `question-${question.id}`, tabindex: "-1", "data-first": this.first === question.id, "aria-busy": busy ? "true" : null },
      h("h2", {}, quoted(question.text)),
      h("p", { class: "verdict" }, busy ? h("span", { class: "dim" }, t("qsAsking")) : verdict(question, now), h("span", { class: "dim" }, ` · ${t(`mode_${question.mode}`)} · ${t(question.severity === "block" ? "qsKeepsBack" : "qsOnlyWarns")}`)),
      now ? failures(question, now.failures, titles) : null,
      h("h3", {}, t("qsExpected")), expected(question, titles, name),
      now?.answer ? h("details", {}, h("summary", {}, t("qsAnswer")), h("div", { class: "answer" }, answerBlocks(now.segments, now.citations, name, { names: new Map() }))) : null,
      this.history(question),
      h("p", { class: "row acts" }, h("a", { href: addressOf(name, asked) }, t("qsOpen")), this.may ? this.acts(question) : null));
  }

  acts(question) {
    const about = (word) => `${t(word)}: ${question.text}`;
    return [h("button", { type: "button", class: "small", "aria-label": about("qsRun"), "data-act": "run", onclick: () => this.run([question.id]) }, t("qsRun")),
      h("a", { class: "button small", "aria-label": about("qsEditIt"), href: address(this.context.name, "edit", question.id) }, t("qsEditIt")),
      h("button", { type: "button", class: "small", "aria-label": about("qsRemove"), onclick: () => this.remove(question) }, t("qsRemove"))];
  }

  history(question) {
    const { snapshots, snapshot_id: current, titles } = this.listing;
    if (snapshots.length < 2) return null;
    const outcomes = new Map(question.outcomes.map((one) => [one.snapshot_id, one]));
    return h("details", {}, h("summary", {}, t("qsHistory", snapshots.length)), h("ol", { class: "plain outcomes" }, snapshots.map(({ snapshot_id: id, at }) => {
      const outcome = outcomes.get(id);
      return h("li", {}, h("span", { class: "when" }, when(at) || id), h("div", {}, verdict(question, outcome), id === current ? h("span", { class: "badge" }, t("qsPublished")) : null, failures(question, outcome?.failures ?? [], titles)));
    })));
  }

  async run(ids) {
    if (this.running) return;
    this.running = true;
    const one = ids.length === 1 ? ids[0] : null;
    this.failed.hidden = true;
    this.asking = new Set(ids);
    this.draw();
    try {
      for (let at = 0; at < ids.length && !this.context.signal.aborted; at += TOGETHER) {
        this.tell(ids.length > 1 ? t("qsProgress", at, ids.length) : t("qsAsking"));
        const some = ids.slice(at, at + TOGETHER);
        this.listing = await post("/questions/run", { collection: this.context.name, ids: some });
        some.forEach((id) => this.asking.delete(id));
        this.draw();
      }
      this.tell(t("qsDone"));
    } catch (error) {
      this.told.hidden = true;
      this.failed.hidden = false;
      replace(this.failed, error.message);
    }
    this.running = false;
    this.asking.clear();
    this.draw();
    if (one) this.body.querySelector(`#question-${CSS.escape(one)} [data-act="run"]`)?.focus({ preventScroll: true });
  }

  tell(words) {
    this.told.hidden = false;
    replace(this.told, words);
  }

  async remove(question) {
    if (!(await confirmed({ title: t("qsRemoveTitle"), body: [h("p", {}, quoted(question.text)), h("p", { class: "dim" }, t("qsRemoveLine"))], action: t("qsRemove"), grave: true }))) return;
    try {
      await request(`/questions/${encodeURIComponent(question.id)}?${new URLSearchParams({ collection: this.context.name })}`, { method: "DELETE" });
      this.listing.questions = this.listing.questions.filter((one) => one.id !== question.id);
      this.draw();
      say(t("qsRemoved"));
      (this.body.querySelector("li h2")?.closest("li") ?? this.bar.querySelector("a"))?.focus();
    } catch (error) {
      this.failed.hidden = false;
      replace(this.failed, error.message);
    }
  }
}
