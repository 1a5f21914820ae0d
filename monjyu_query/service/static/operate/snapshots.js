// The snapshots of a collection: what differs between two, and which one readers see.

import { json, post } from "../api.js";
import { confirmed } from "../dialog.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { Part, state, table, when } from "./shared.js";

const TABLES = ["papers", "chunks", "sentences", "references"];

export function snapshotsPart({ name, signal }) {
  const part = new Part("opSnapshots", signal);
  const load = () => part.load(() => json(`/admin/snapshots?${new URLSearchParams({ collection: name })}`), (found) => shown(name, found.snapshots, part, load));
  load();
  return part.element;
}

function shown(name, snapshots, part, load) {
  const newest = snapshots.toReversed();
  const roll = (body, question) => async () => {
    if (question && !(await confirmed(question))) return;
    const done = await post("/admin/rollback", { collection: name, ...body });
    await load();
    part.tell(t(done.held ? "opNowHeld" : "opNowNewest", label(done)));
  };
  const button = (one) => {
    if (one.held) return part.button(t("opRelease"), roll({ release: true }));
    if (one.current) return null;
    return part.button(t("opServe"), roll({ snapshot_id: one.snapshot_id },
      { title: t("opServeTitle"), action: t("opServe"), grave: true, body: [h("p", {}, t("opServeSure", label(one))), h("p", { class: "dim" }, t("opServeHow"))] }), t("opServeOf", label(one)));
  };
  const rows = newest.map((one) => [[when(one.created_at), h("br"), h("code", { class: "dim" }, one.snapshot_id)], number(one.level), number(one.papers), number(one.chunks),
    [one.current ? state(t("opServed"), "good") : null, one.held ? [" ", state(t("opHeld"), "warn")] : null], button(one)]);
  return [h("p", { class: "dim" }, t("opSnapshotsOf"), quoted(name)), table(["opMade", "opLevel", "opPapers", "opChunks", "opState", ""], rows, t("opSnapshots")),
    snapshots.length > 1 ? comparing(name, newest, part) : h("p", { class: "dim" }, t("opOnlyOne"))];
}

function number(value) {
  return h("span", { class: "numbers" }, value ?? "–");
}

function label(one) {
  return one.created_at ? when(one.created_at) : one.snapshot_id;
}

function comparing(name, newest, part) {
  const select = (id, at) => h("select", { id }, newest.map((one, n) => h("option", { value: one.snapshot_id, selected: n === at }, `${label(one)} · ${one.snapshot_id.slice(-8)}`)));
  const [older, newer] = [select("op-older", 1), select("op-newer", 0)];
  const found = h("div", { class: "differs", role: "status" });
  const button = h("button", { type: "button", onclick: part.act(async () => {
    replace(found, h("span", { class: "skeleton w60" }));
    try {
      replace(found, differs(name, await json(`/admin/snapshots/diff?${new URLSearchParams({ collection: name, older: older.value, newer: newer.value })}`)));
    } catch (error) {
      replace(found);
      throw error;
    }
  }) }, t("opCompare"));
  const field = (word, box) => h("div", { class: "field" }, h("label", { for: box.id }, t(word)), box);
  return [h("h3", {}, t("opDiffers")), h("div", { class: "row" }, field("opOlder", older), field("opNewer", newer), button), found];
}

function differs(name, found) {
  const papers = (kind) => found[kind].length ? h("details", { open: found[kind].length < 8 }, h("summary", {}, t(`op_${kind}`, found[kind].length)),
    h("ul", {}, found[kind].map((id) => h("li", {}, kind === "deleted" ? quoted(id) : h("a", { href: `#/paper/${encodeURIComponent(name)}/${encodeURIComponent(id)}` }, quoted(id)))))) : null;
  const rows = Object.entries(found.rows).filter(([, [before, after]]) => before !== after);
  const first = TABLES.filter((table) => table in found.rows).map((table) => [table, found.rows[table]]);
  const rest = rows.filter(([table]) => !TABLES.includes(table));
  const same = !rows.length && !found.added.length && !found.changed.length && !found.deleted.length;
  if (same) return h("p", {}, t("opSame"));
  return [["added", "changed", "deleted"].map(papers), counts(first), rest.length ? h("details", {}, h("summary", {}, t("opOtherTables", rest.length)), counts(rest)) : null];
}

function counts(rows) {
  const signed = (change) => `${change > 0 ? "+" : change < 0 ? "−" : "±"}${Math.abs(change).toLocaleString()}`;
  return table(["opTable", "opBefore", "opAfter", "opDifference"], rows.map(([name, [before, after]]) => [
    name.replaceAll("_", " "), number(before.toLocaleString()), number(after.toLocaleString()), number(signed(after - before))]), t("opDiffers"));
}
