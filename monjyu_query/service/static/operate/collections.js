// The collections: level, state, what models cost by level; indexed anew, or brought to a higher level.

import { json, post } from "../api.js";
import { confirmed } from "../dialog.js";
import { h, quoted, replace } from "../dom.js";
import { t } from "../i18n.js";
import { Part, dollars, link, state, table, when } from "./shared.js";

const HIGHEST = 4;
const AGAIN = 4000; // milliseconds

export function collectionsPart({ collections, signal, refresh }, begun) {
  const part = new Part("opCollections", signal);
  const heads = ["collection", "opLevel", "opPapers", "opFresh", "opPublished", "opCost", ""];
  part.fill(collections.length ? table(heads, collections.map((one) => row(one, part, (run) => follow(run, part, begun, refresh))), t("opCollections")) : h("p", { class: "dim" }, t("opNone")));
  return part.element;
}

// Says how far a run is until it has ended; then the collections are read anew.
async function follow(run, part, begun, refresh) {
  const seen = run.url ? [" ", link(run.url, t("opSeeRun"))] : null; // a run of the service's own has no page
  const tell = (word, ...values) => part.tell(t(word, run.collection, run.level, ...values), seen);
  tell("opBegun");
  begun();
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, AGAIN));
    if (part.signal.aborted) return;
    const state = await json(`/admin/index?${new URLSearchParams({ collection: run.collection, backfill_id: run.backfill_id })}`).catch(() => null);
    if (!state || part.signal.aborted) return;
    if (state.state === "failed") part.fail(t("opRunFailed", run.collection), " ", state.cause, seen);
    if (state.state === "done") tell("opDone");
    if (state.state !== "running") return void refresh();
    tell("opBegunOf", state.made, state.parts);
    begun();
  }
}

function row(one, part, started) {
  const index = part.button(t("opIndex"), async () => started(await post("/admin/index", { collection: one.collection })), t("opIndexOf", one.collection));
  const upgrade = part.button(t("opUpgrade"), async () => {
    const level = await levelChosen(one);
    if (level) started(await post("/admin/upgrade", { collection: one.collection, level }));
  }, t("opUpgradeOf", one.collection));
  return [h("a", { href: `#/papers/${encodeURIComponent(one.collection)}` }, quoted(one.collection)), levels(one.level),
    [String(one.papers), one.failed ? h("span", { class: "dim" }, ` ${t("opUnread", one.failed)}`) : null], fresh(one), when(one.published_at), cost(one.usage),
    h("span", { class: "row acts" }, index, one.level < HIGHEST ? upgrade : null)];
}

function levels(level) {
  const steps = Array.from({ length: HIGHEST + 1 }, (_, n) => h("i", { class: n <= level ? "on" : null }));
  return h("span", { class: "levels" }, h("span", { "aria-hidden": "true" }, steps), h("span", {}, String(level)));
}

function fresh(one) {
  const found = [];
  if (one.held) found.push(state(t("opHeld"), "warn"));
  if (one.behind.length) found.push(state(t("opBehind"), "warn"), h("span", { class: "dim" }, ` ${one.behind.join(", ")}`));
  return found.length ? found : state(t("opCurrent"), "good");
}

function cost(usage) {
  const paid = Object.entries(usage).filter(([, one]) => one.llm_calls || one.cost_usd);
  if (!paid.length) return h("span", { class: "dim" }, t("opNoCalls"));
  const sum = paid.reduce((all, [, one]) => all + one.cost_usd, 0);
  return [dollars(sum), h("ul", { class: "by-level dim" }, paid.map(([level, one]) => h("li", {}, t("opOfLevel", level, dollars(one.cost_usd), one.llm_calls))))];
}

// The level to be built, once it is known what that costs; 0 where nobody wants it.
async function levelChosen(one) {
  const above = Array.from({ length: HIGHEST - one.level }, (_, n) => one.level + 1 + n);
  const level = h("select", { id: "op-level" }, above.map((n) => h("option", { value: n }, t("opLevelIs", n))));
  const told = h("div", { role: "status", class: "estimate" });
  let turn = 0;
  const estimate = async (ready) => {
    const mine = (turn += 1);
    ready(false);
    replace(told, h("p", { class: "dim" }, t("opCounting")), h("span", { class: "skeleton w75" }));
    try {
      const found = await post("/admin/estimate", { collection: one.collection, level: Number(level.value) });
      if (mine !== turn) return;
      replace(told, facts(found));
      ready(true);
    } catch (error) {
      if (mine === turn) replace(told, h("p", { class: "error" }, error.message));
    }
  };
  const yes = await confirmed({
    title: t("opUpgradeOf", one.collection), action: t("opUpgradeGo"),
    body: [h("div", { class: "field" }, h("label", { for: "op-level" }, t("opUpgradeTo")), level), told, h("p", { class: "dim" }, t("opKept"))],
    prepare: (ready) => {
      level.addEventListener("change", () => estimate(ready));
      estimate(ready);
    },
  });
  return yes ? Number(level.value) : 0;
}

function facts(found) {
  const free = !found.llm_calls && !found.cost_usd && !found.pages;
  if (free) return h("p", {}, t("opFree"));
  const line = (name, value) => [h("dt", {}, t(name)), h("dd", {}, value)];
  return h("dl", { class: "facts-list" }, line("opCalls", found.llm_calls.toLocaleString()), line("opTokens", `${found.prompt_tokens.toLocaleString()} + ${found.completion_tokens.toLocaleString()}`),
    found.pages ? line("opPages", found.pages.toLocaleString()) : null, line("opCostAbout", dollars(found.cost_usd)));
}
