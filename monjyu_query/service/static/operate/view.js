// The view `operate`: what administrators see and do.

import { json, request } from "../api.js";
import { h, quoted, replace, say } from "../dom.js";
import { addWords, t } from "../i18n.js";
import { words } from "./words.js";

addWords(words);
const HIGHEST = 4;

export async function show({ name, collections, who }) {
  const heading = h("h1", { tabindex: "-1" }, t("operate"));
  if (who.role !== "admin") return h("div", { class: "column" }, heading, h("p", {}, t("opOnlyAdmins")));
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const act = (work) => async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    failed.hidden = true;
    try {
      await work();
    } catch (error) {
      failed.hidden = false;
      replace(failed, error.message);
    } finally {
      button.disabled = false;
    }
  };
  const [seen, kept] = await Promise.all([json("/admin/runs"), json("/admin/keys")]);
  const snapshots = name ? await json(`/admin/snapshots?collection=${encodeURIComponent(name)}`).catch((error) => ({ snapshots: [], problem: error.message })) : { snapshots: [] };
  return h("div", { class: "column stacked operate" }, heading, failed,
    section("opCollections", table(["collection", "opLevel", "opPapers", "opFresh", "opCost", ""], collections.map((one) => collectionRow(one, act)))),
    section("opRuns", seen.problem ? h("p", {}, seen.problem) : h("p", {}, h("a", { href: seen.url }, t("opDagster"))), table([], seen.runs.map((run) => [h("a", { href: run.url }, run.job), run.collection, run.status, when(run.started_at)]))),
    section("opChecks", table([], seen.checks.map((one) => [h("a", { href: one.url }, one.name), one.passed ? t("opPassed") : t("opFailed"), quoted(one.message), when(one.at)]))),
    name ? section("opSnapshots", h("p", {}, quoted(name)), snapshots.problem ? h("p", {}, snapshots.problem) : null, snapshotTable(name, snapshots.snapshots, act)) : null,
    keys(kept.keys, act));
}

function section(title, ...children) {
  return h("section", {}, h("h2", {}, t(title)), children);
}

function table(heads, rows) {
  return h("div", { class: "answer-table", tabindex: "0", role: "group" }, h("table", {},
    heads.length ? h("thead", {}, h("tr", {}, heads.map((one) => (one ? h("th", { scope: "col" }, t(one)) : h("td"))))) : null,
    h("tbody", {}, rows.map((row) => h("tr", {}, row.map((cell) => h("td", {}, cell)))))));
}

function when(time) {
  return time ? new Date(time).toLocaleString(document.documentElement.lang) : "";
}

function post(path, body) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body) }).then((answer) => answer.json());
}

function collectionRow(one, act) {
  const spent = Object.values(one.usage).reduce((sum, level) => sum + level.cost_usd, 0);
  const index = act(async () => {
    await post("/admin/index", { collection: one.collection });
    say(t("opBegun"));
  });
  const upgrade = act(async () => {
    const asked = { collection: one.collection, level: one.level + 1 };
    const cost = await post("/admin/estimate", asked);
    if (!confirm(t("opSure", one.collection, asked.level, cost.llm_calls, cost.cost_usd.toFixed(2)))) return;
    await post("/admin/upgrade", asked);
    say(t("opBegun"));
  });
  return [quoted(one.collection), one.level, one.papers, one.behind.length ? t("opBehind") : t("opCurrent"), `$${spent.toFixed(2)}`,
    [h("button", { type: "button", class: "small", onclick: index }, t("opIndex")),
      one.level < HIGHEST ? h("button", { type: "button", class: "small", onclick: upgrade }, t("opUpgrade")) : null]];
}

function snapshotTable(name, snapshots, act) {
  const roll = (body, question) => act(async () => {
    if (question && !confirm(question)) return;
    await post("/admin/rollback", { collection: name, ...body });
    say(t("opServed"));
  });
  return table([], snapshots.map((one) => [one.snapshot_id, one.level, one.papers, one.current ? t("opServed") : "",
    one.held ? h("button", { type: "button", class: "small", onclick: roll({ release: true }) }, t("opRelease"))
      : one.current ? "" : h("button", { type: "button", class: "small", onclick: roll({ snapshot_id: one.snapshot_id }, t("opServeSure", one.snapshot_id)) }, t("opServe"))]));
}

function keys(kept, act) {
  const made = h("p", { role: "status" });
  const [name, ends] = ["opName", "opEnds"].map((label) => h("input", { "aria-label": t(label), placeholder: t(label), maxlength: 40 }));
  const role = h("select", { "aria-label": t("opRole") }, ["reader", "editor", "admin"].map((one) => h("option", { value: one }, one)));
  const create = act(async () => {
    const found = await post("/admin/keys", { name: name.value, role: role.value, expires: ends.value || null });
    replace(made, h("code", {}, found.key), h("br"), t("opOnce"));
  });
  const revoke = (one) => act(async () => {
    if (!confirm(t("opRevokeSure", one.name || one.id))) return;
    await post("/admin/keys/revoke", { id: one.id });
    document.getElementById(`key-${one.id}`)?.closest("tr").remove();
  });
  return section("opKeys", h("div", { class: "row" }, name, role, ends, h("button", { type: "button", onclick: create }, t("opCreate"))), made,
    table([], kept.map((one) => [h("span", { id: `key-${one.id}` }, quoted(one.name || one.id)), one.role, one.expires_at ? when(one.expires_at) : t("opNever"),
      h("button", { type: "button", class: "small", onclick: revoke(one) }, t("opRevoke"))])));
}
