// Why a search ended, in plain words, and how to go on from there: what was judged is kept, so going on repeats none.

import { h } from "../dom.js";
import { t } from "../i18n.js";
import "./words.js";

const MORE = 400;

// `goOn(budget)` asks the same again; null where nobody can.
export function ending(result, goOn) {
  if (!result.lazy) return null;
  const { lazy, usage } = result;
  const left = lazy.frontier_left > 0;
  const told = [t(`why_${lazy.ended}`), t("judged", usage.relevance_tests, lazy.frontier_left)];
  const resumes = lazy.ended === "cancelled" && usage.budget_total > usage.relevance_tests;
  return h("div", { class: "ending" },
    h("p", {}, told.join(" ")),
    goOn && left ? h("p", { class: "row" },
      resumes ? h("button", { type: "button", class: "small primary", onclick: () => goOn(usage.budget_total) }, t("resume", usage.budget_total - usage.relevance_tests)) : null,
      h("button", { type: "button", class: "small", onclick: () => goOn(resumes ? usage.budget_total + MORE : usage.relevance_tests + Math.min(lazy.frontier_left, MORE)) }, lazy.frontier_left < MORE ? t("spendRest", lazy.frontier_left) : t("spendMore", MORE)),
      h("span", { class: "dim" }, t("keptJudgements"))) : null);
}
