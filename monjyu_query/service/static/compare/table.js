// A study table: a row a paper, a column for each thing asked of all of them; and the same as files.

import { request } from "../api.js";
import { answerTable } from "../ask/answer.js";
import { h, replace, saved, say } from "../dom.js";
import { t } from "../i18n.js";

const FORMS = ["csv", "xlsx", "markdown"];
const ENDINGS = { csv: "csv", xlsx: "xlsx", markdown: "md" };

function asked(path, body, signal) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

export function studyTable({ name: chosen }) {
  const columns = h("input", { id: "columns", type: "text", maxlength: 1000, autocomplete: "off", placeholder: t("columnsHint") });
  const about = h("input", { id: "about", type: "text", maxlength: 1000, autocomplete: "off", placeholder: t("aboutHint") });
  const papers = h("input", { id: "most", type: "number", min: 1, max: 200, value: 50 });
  const made = h("div", { class: "wide" });
  const stop = h("button", { type: "button", hidden: true, onclick: () => running?.abort() }, t("stop"));
  let running = null;
  const body = () => ({
    collection: chosen, about: about.value.trim(), papers: Number(papers.value) || null,
    columns: columns.value.split(/[,、;]/).map((name) => name.trim()).filter(Boolean),
  });
  const make = async (event) => {
    event.preventDefault();
    running?.abort();
    const mine = (running = new AbortController());
    const wanted = body();
    stop.hidden = false;
    replace(made, h("p", { class: "dim", role: "status" }, t("reading")));
    try {
      const digest = await (await asked("/table", wanted, mine.signal)).json();
      if (mine === running) replace(made, shown(digest, wanted));
      say(t("answered"));
    } catch (error) {
      if (mine === running) replace(made, error.name === "AbortError" ? null : h("p", { class: "error", role: "alert" }, error.message));
    } finally {
      if (mine === running) stop.hidden = true;
    }
  };
  return h("div", {}, h("div", { class: "column" }, h("h1", {}, t("table")), h("p", { class: "dim" }, t("tableLine")),
    h("form", { class: "stacked", onsubmit: make },
      h("div", { class: "field" }, h("label", { for: "columns" }, t("columns")), columns),
      h("div", { class: "row" },
        h("div", { class: "field grow" }, h("label", { for: "about" }, t("about")), about),
        h("div", { class: "field" }, h("label", { for: "most" }, t("most")), papers)),
      h("div", { class: "row" }, h("button", { class: "primary" }, t("makeTable")), stop))), made);
}

function shown(digest, wanted) {
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const files = FORMS.map((form) => h("button", { type: "button", onclick: () => download(form, wanted, failed) }, t(`as_${form}`)));
  return h("section", { class: "result stacked" },
    digest.warnings.length ? h("ul", { class: "warnings" }, digest.warnings.map((text) => h("li", {}, text))) : null,
    h("div", { class: "row" }, h("p", { class: "dim grow" }, t("count", digest.papers.length)), files), failed,
    digest.tables.map((table) => answerTable(table, digest.citations, digest.collection)));
}

function download(form, wanted, failed) {
  return saved(() => asked(`/table?format=${form}`, wanted), `${wanted.collection}.${ENDINGS[form]}`, failed);
}
