// The dialog that reports a wrong field, and the corrections that wait for the next indexing.

import { json, request } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { t } from "../i18n.js";

const FIELDS = ["title", "authors", "publication_date", "venue", "doi", "abstract", "language"];

export function corrections(id, collection, who, values) {
  if (!["editor", "admin"].includes(who.role)) return h("p", { class: "dim" }, t("askEditor"));
  const waiting = h("div", {});
  const load = async () => {
    const held = await json(`/corrections?${new URLSearchParams({ collection, paper_id: id })}`).catch((error) => ({ error }));
    if (held.error) {
      replace(waiting, held.error.status === 404 ? null : h("p", { class: "error" }, held.error.message));
      return;
    }
    const all = Array.isArray(held) ? held : held.corrections;
    replace(waiting, all?.length ? [h("h3", {}, t("waits")), h("ul", {}, all.map((one) => h("li", {}, `${t(`field_${one.field}`)}: `, quoted([one.value].flat().join("; ")),
      " ", h("button", { type: "button", class: "small", onclick: () => send({ field: one.field, value: null, note: "" }).then(load, load) }, t("remove")))))] : null);
  };
  const send = (body) => request("/corrections", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ collection, paper_id: id, ...body }) });
  load();
  return h("section", {}, h("button", { type: "button", onclick: () => dialog(values, send, load) }, t("wrong")), waiting);
}

function dialog(values, send, load) {
  const field = h("select", { id: "wrong-field" }, FIELDS.map((one) => h("option", { value: one }, t(`field_${one}`))));
  const value = h("textarea", { id: "right-value", rows: 3, required: true, maxlength: 20000 });
  const note = h("input", { id: "wrong-note", maxlength: 1000 });
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const fill = () => { value.value = values[field.value] ?? ""; };
  const box = h("dialog", { "aria-labelledby": "wrong-title" });
  const submit = async (event) => {
    event.preventDefault();
    const given = value.value.trim();
    const sent = field.value === "authors" ? given.split(/[;\n]/).map((name) => name.trim()).filter(Boolean) : given;
    try {
      await send({ field: field.value, value: sent, note: note.value.trim() });
      box.close();
      say(t("countsLater"));
      load();
    } catch (error) {
      failed.hidden = false;
      replace(failed, error.status === 404 || error.status === 405 ? t("notYet") : error.message);
    }
  };
  field.addEventListener("change", fill);
  fill();
  replace(box, h("form", { onsubmit: submit }, h("h2", { id: "wrong-title" }, t("wrong")), h("label", { for: "wrong-field" }, t("whichField")), field,
    h("label", { for: "right-value" }, t("rightValue")), value, h("label", { for: "wrong-note" }, t("note")), note,
    h("p", { class: "dim" }, t("countsLater")), failed,
    h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, t("send_")), h("button", { type: "button", onclick: () => box.close() }, t("cancel")))));
  box.addEventListener("close", () => box.remove());
  document.body.append(box);
  box.showModal();
}
