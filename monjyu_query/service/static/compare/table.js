// A study table: a row a paper, a column for each thing asked of all of them; and the same as files.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { Running, listed } from "./running.js";
import { StudyTable } from "./study_table.js";

const MOST = 200;
const USUAL = 50;

export function studyTable({ name, params, signal }, keep) {
  const columns = input("columns", { maxlength: 1000, value: params.getAll("column").join(", "), placeholder: t("compare_columns_hint") });
  const about = input("about", { maxlength: 1000, value: params.get("about") ?? "", placeholder: t("compare_about_hint") });
  const papers = h("input", { id: "most", type: "number", min: 1, max: MOST, value: params.get("most") ?? USUAL });
  let only = params.getAll("papers").slice(0, MOST);
  const results = h("div", { class: "wide" });
  const running = new Running(results, signal);
  const wanted = () => ({ collection: name, columns: listed(columns.value).length ? listed(columns.value) : null, ...(only.length ? { paper_ids: only } : { about: about.value.trim(), papers: Math.min(MOST, Number(papers.value) || USUAL) }) });
  const address = (names) => keep([...names.map((one) => ["column", one]), ...only.map((id) => ["papers", id]), ...(only.length ? [] : [["about", about.value.trim()], ["most", papers.value]])]);
  const make = () => {
    address(listed(columns.value));
    const body = wanted();
    return running.run("/table", body, (digest) => new StudyTable(digest, body, signal, (names) => {
      columns.value = names.join(", ");
      address(names);
    }).element);
  };
  const restricted = h("p", { class: "chip still" }, t("compare_chosen_papers", only.length), " ", h("button", { type: "button", class: "quiet small", onclick: () => {
    only = [];
    restricted.remove();
    choice.hidden = false;
    about.focus();
  } }, t("compare_all_papers")));
  const choice = h("div", { class: "row", hidden: only.length > 0 }, field("compare_about", about, "grow"), field("compare_most", papers));
  const form = h("form", { class: "stacked", onsubmit: (event) => {
    event.preventDefault();
    make();
  } }, field("compare_columns", columns), only.length ? restricted : null, choice, h("div", { class: "row" }, h("button", { class: "primary" }, t("compare_make_table"))));
  if (params.has("most") || only.length) make();
  return { form, results };
}

export function input(id, properties) {
  return h("input", { id, type: "text", autocomplete: "off", ...properties });
}

export function field(name, control, more = "") {
  return h("div", { class: `field ${more}` }, h("label", { for: control.id }, quoted(t(name))), control);
}
