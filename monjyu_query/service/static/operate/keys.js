// The keys: made and shown once, listed, revoked. Nobody locks themselves out unawares.

import { ApiError, json, post } from "../api.js";
import { confirmed } from "../dialog.js";
import { copy, h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { Part, state, table, when } from "./shared.js";

const ENDS = ["", "30d", "90d", "365d"];

export function keysPart({ collections, signal }) {
  const part = new Part("opKeys", signal);
  const made = h("div", { role: "status" });
  const list = h("div");
  const load = () => part.load(() => json("/admin/keys"), (found) => {
    replace(list, found.keys.length ? table(["opNote", "opRole", "opSees", "opMade", "opEnds", ""], found.keys.map((one) => row(one, part, load)), t("opKeys")) : h("p", { class: "dim" }, t("opNoKeys")));
    return [form(collections, part, made, load), made, list];
  });
  load();
  return part.element;
}

function form(collections, part, made, load) {
  const field = (word, box) => h("div", { class: "field" }, h("label", { for: box.id }, t(word)), box);
  const note = h("input", { id: "op-note", maxlength: 100, autocomplete: "off", placeholder: t("opNoteHint") });
  const role = h("select", { id: "op-role" }, ["reader", "editor", "admin"].map((one) => h("option", { value: one }, t(`opRole_${one}`))));
  const date = h("input", { id: "op-date", type: "date", "aria-label": t("opDate"), min: new Date(Date.now() + 864e5).toISOString().slice(0, 10), hidden: true });
  const ends = h("select", { id: "op-ends", onchange: () => (date.hidden = ends.value !== "date") },
    ENDS.map((one) => h("option", { value: one }, one ? t("opDays", parseInt(one)) : t("opNever"))), h("option", { value: "date" }, t("opDate")));
  const boxes = collections.map((one) => h("input", { type: "checkbox", value: one.collection }));
  const create = part.act(async () => {
    const only = boxes.filter((box) => box.checked).map((box) => box.value);
    const until = ends.value === "date" ? date.value : ends.value;
    if (ends.value === "date" && !until) throw new ApiError(0, { message: t("opDateMissing") });
    const key = await post("/admin/keys", { name: note.value.trim(), role: role.value, expires: until || null, collections: only.length ? only : null });
    await load();
    replace(made, shownOnce(key));
    made.querySelector("button").focus();
  });
  return h("form", { class: "new-key", onsubmit: (event) => event.preventDefault() }, h("div", { class: "row" }, h("div", { class: "grow" }, field("opNote", note)), field("opRole", role), field("opEnds", ends), date),
    collections.length ? h("fieldset", {}, h("legend", {}, t("opSeesOnly")), h("div", { class: "choices" }, boxes.map((box) => h("label", {}, box, " ", quoted(box.value))))) : null,
    h("button", { type: "submit", class: "primary", onclick: create }, t("opCreate")));
}

function shownOnce(key) {
  const button = h("button", { type: "button", class: "small", onclick: () => copy(key.key, button) }, t("opCopy"));
  return h("div", { class: "shown-once" }, h("p", {}, t("opOnce")), h("div", { class: "row" }, h("code", {}, key.key), button));
}

function row(one, part, load) {
  const name = one.name || one.id;
  const end = part.button(t("opRevoke"), async () => {
    const asking = { title: t("opRevokeTitle"), action: t("opRevoke"), grave: true };
    const own = one.own ? h("p", { class: "warnings" }, t("opRevokeOwn")) : null;
    if (!(await confirmed({ ...asking, body: [h("p", {}, t("opRevokeSure", name)), own] }))) return;
    if (await ended(one, asking)) await load();
  }, t("opRevokeOf", name));
  return [[quoted(name), one.own ? h("span", { class: "dim" }, ` (${t("opOwn")})`) : null, h("br"), h("code", { class: "dim" }, one.id)], t(`opRole_${one.role}`),
    one.collections ? quoted(one.collections.join(", ")) : t("opAll"), when(one.created_at), one.expired ? state(t("opExpired"), "bad") : one.expires_at ? when(one.expires_at) : t("opNever"), end];
}

// The service warns of the last key of an administrator: that is asked about once more.
async function ended(one, asking) {
  try {
    await post("/admin/keys/revoke", { id: one.id, confirm: one.own });
  } catch (error) {
    if (error.status !== 409) throw error;
    if (!(await confirmed({ ...asking, body: h("p", { class: "warnings" }, t("opRevokeLast")) }))) return false;
    await post("/admin/keys/revoke", { id: one.id, confirm: true });
  }
  return true;
}
