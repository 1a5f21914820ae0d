// The dialog that reports a wrong field; the corrections that count, and those that wait for the next indexing.

import { isEditor, json, posted } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";
import { begin, notBegun, underWay, watch } from "../indexing.js";
import { editorNeeded } from "../editor.js";
import { forgetPapers } from "./viewer.js";

const FIELDS = ["title", "authors", "publication_date", "venue", "doi", "abstract", "language"];

// `details` are those of the paper.
export function corrections(id, context, details) {
  const { name: collection, who, signal, refresh, again } = context;
  if (!isEditor(who)) return h("div", { id: "part-correct" }, editorNeeded(context, t("askEditor")));
  const read = Object.fromEntries(details.fields.map((one) => [one.field, one]));
  const told = h("div", {});
  const place = h("div", {});
  const send = (body) => posted("/corrections", { collection, paper_id: id, ...body });
  const load = async () => {
    try {
      const held = await json(`/corrections?${new URLSearchParams({ collection, paper_id: id })}`);
      replace(told, lists(held, read, back, index));
    } catch (error) {
      replace(told, h("p", { class: "error" }, error.message));
    }
  };
  const back = async (field) => {
    try {
      await send({ field, value: null, note: "" });
      await load();
      say(t("goneBack", t(`field_${field}`)));
      report.focus(); // what was pressed is gone
    } catch (error) {
      replace(place, h("p", { class: "error", role: "alert" }, error.message));
    }
  };
  const index = async () => {
    try {
      await begin(collection);
    } catch (error) {
      replace(place, notBegun(error));
      return;
    }
    await follow();
  };
  const follow = () => watch(collection, place, signal, async () => {
    say(t("countsNow"));
    forgetPapers();
    await refresh(true);
    if (!signal.aborted) await again();
  });
  load();
  if (underWay(collection)) follow();
  const values = Object.fromEntries(details.fields.map((one) => [one.field, one.value]));
  const report = h("button", { type: "button", class: "small", onclick: () => dialog(values, send, load) }, t("wrong"));
  return h("section", { class: "correcting", id: "part-correct" }, report, told, place);
}

function lists(held, read, back, index) {
  const line = (one) => h("li", {}, h("strong", {}, t(`field_${one.field}`)), ": ", quoted([one.value].flat().join("; ")),
    one.counts && read[one.field]?.read !== null ? h("span", { class: "dim" }, " – ", t("fileSays"), quoted(read[one.field].read || "–")) : null,
    one.note ? h("span", { class: "dim" }, " (", quoted(one.note), ")") : null, " ",
    h("button", { type: "button", class: "small", "aria-label": `${t("takeBack")}: ${t(`field_${one.field}`)}`, onclick: () => back(one.field) }, t("takeBack")));
  const [counting, waiting] = [held.corrections.filter((one) => one.counts), held.corrections.filter((one) => !one.counts)];
  const gone = held.taken_back.map((field) => h("li", {}, t("takenBack", t(`field_${field}`))));
  return [counting.length ? [h("h3", {}, t("corrected")), h("ul", {}, counting.map(line))] : null,
    waiting.length || gone.length ? [h("h3", {}, t("waits")), h("ul", {}, waiting.map(line), gone), h("p", {}, h("button", { type: "button", class: "small primary", onclick: index }, t("indexNow")))] : null];
}

function dialog(values, send, load) {
  const field = h("select", { id: "wrong-field" }, FIELDS.map((one) => h("option", { value: one }, t(`field_${one}`))));
  const value = h("textarea", { id: "right-value", rows: 4, maxlength: 20000 });
  const note = h("input", { id: "wrong-note", maxlength: 1000 });
  const how = h("p", { class: "dim", id: "wrong-how" });
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const fill = () => {
    value.value = field.value === "authors" ? (values.authors ?? "").replaceAll("; ", "\n") : values[field.value] ?? "";
    replace(how, t(`how_${field.value}`));
  };
  const box = h("dialog", { class: "correct", "aria-labelledby": "wrong-title" });
  const submit = async (event) => {
    event.preventDefault();
    const given = value.value.trim();
    const sent = field.value === "authors" ? given.split(/[;\n]/).map((name) => name.trim()).filter(Boolean) : given;
    try {
      await send({ field: field.value, value: sent, note: note.value.trim() });
      box.close();
      say(t("sent_"));
      load();
    } catch (error) {
      failed.hidden = false;
      replace(failed, error.message);
    }
  };
  field.addEventListener("change", fill);
  fill();
  replace(box, h("form", { onsubmit: submit }, h("h2", { id: "wrong-title" }, t("wrong")), h("label", { for: "wrong-field" }, t("whichField")), field,
    h("label", { for: "right-value" }, t("rightValue")), value, how, h("label", { for: "wrong-note" }, t("note")), note,
    h("p", { class: "dim" }, t("countsLater")), failed,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("send_")), h("button", { type: "button", onclick: () => box.close() }, t("cancel")))));
  value.setAttribute("aria-describedby", "wrong-how");
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
