// A survey of a topic: what the papers say on it, theme by theme.

import { renderResult } from "../ask/answer.js";
import { BUDGETS } from "../declared.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { asResult, relations } from "./digest.js";
import { Running } from "./running.js";
import { field, input } from "./table.js";

const MOST = 30;
const USUAL = 10;

export function surveyOf({ name, info, params, signal }, keep) {
  const topic = input("topic", { maxlength: 2000, required: true, value: params.get("topic") ?? "", placeholder: t("compare_topic_hint") });
  const papers = h("input", { id: "most", type: "number", min: 1, max: MOST, value: params.get("most") ?? USUAL });
  const budgets = info.modes.includes("lazy") ? BUDGETS : [];
  const depth = h("select", { id: "depth" }, h("option", { value: "" }, t("compare_quick")), budgets.map((tests) => h("option", { value: tests, selected: tests === params.get("budget") }, t(`budget_${tests}`))));
  const results = h("div", { class: "survey" });
  const running = new Running(results, signal);
  const make = () => {
    const asked = topic.value.trim();
    if (!asked) return null;
    keep([["topic", asked], ["most", papers.value], ["budget", depth.value]]);
    const body = { collection: name, topic: asked, papers: Math.min(MOST, Number(papers.value) || USUAL), ...(depth.value ? { budget: depth.value } : {}) };
    return running.run("/survey", body, (digest) => h("div", { class: "column" }, h("h2", { class: "survey-title" }, digest.subject), renderResult(asResult(digest, info), again), h("div", { class: "relations" }, relations(digest))));
  };
  const again = (question) => {
    topic.value = question;
    make();
  };
  const form = h("form", { class: "stacked", onsubmit: (event) => {
    event.preventDefault();
    make();
  } }, field("compare_topic", topic), h("div", { class: "row" }, field("compare_depth", depth, "grow"), field("compare_most", papers)), h("div", { class: "row" }, h("button", { class: "primary" }, t("compare_make_survey"))));
  if (params.has("topic")) make();
  return { form, results };
}
