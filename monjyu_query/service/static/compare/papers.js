// Two to five papers side by side.

import { answerBlocks, answerTable } from "../ask/answer.js";
import { h } from "../dom.js";
import { t } from "../i18n.js";
import { loadPaper } from "../paper/viewer.js";
import { relations, segmentsOf, warningsOf } from "./digest.js";
import { Picker } from "./picker.js";
import { Running, listed } from "./running.js";
import { field, input } from "./table.js";

const [LEAST, MOST] = [2, 5];

export async function sideBySide({ name, params, signal }, keep) {
  const ids = [...new Set(params.getAll("papers"))].slice(0, MOST);
  const known = (await Promise.all(ids.map((id) => loadPaper(id, name).catch(() => null)))).filter(Boolean);
  const results = h("div", { class: "wide" });
  const running = new Running(results, signal);
  const aspects = input("aspects", { maxlength: 1000, value: params.getAll("aspect").join(", "), placeholder: t("compare_aspects_hint") });
  const told = h("p", { class: "error", role: "alert", hidden: known.length === ids.length }, t("compare_missing"));
  const address = () => keep([...picker.chosen.map((paper) => ["papers", paper.paper_id]), ...listed(aspects.value).map((one) => ["aspect", one])]);
  const picker = new Picker(name, MOST, known, () => {
    told.hidden = true;
    address();
  });
  const make = () => {
    if (picker.chosen.length < LEAST) {
      told.hidden = false;
      told.textContent = t("compare_pick_least");
      picker.box.focus();
      return null;
    }
    address();
    return running.run("/compare", { collection: name, paper_ids: picker.chosen.map((paper) => paper.paper_id), aspects: listed(aspects.value).slice(0, 8) }, shown);
  };
  const form = h("form", { class: "stacked", onsubmit: (event) => {
    event.preventDefault();
    make();
  } }, picker.element, field("compare_aspects", aspects), told, h("div", { class: "row" }, h("button", { class: "primary" }, t("compare_make_papers"))));
  if (known.length >= LEAST) make();
  return { form, results };
}

function shown(digest) {
  const nothing = !digest.tables.length && !digest.parts.length;
  return h("section", { class: "result stacked side-by-side" }, warningsOf(digest), nothing ? h("p", {}, t("compare_nothing")) : null,
    digest.parts.length ? h("div", { class: "answer written" }, answerBlocks(segmentsOf(digest), digest.citations, digest.collection)) : null,
    digest.tables.map((table) => answerTable(table, digest.citations, digest.collection)), h("div", { class: "relations" }, relations(digest)));
}
