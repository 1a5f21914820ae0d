// The last runs and checks, with links into Dagster; while something runs they are looked at again.

import { json } from "../api.js";
import { coded, h, quoted } from "../dom.js";
import { t } from "../i18n.js";
import { said } from "../said.js";
import { Part, link, state, table, when } from "./shared.js";

const MOST = 8;
const AGAIN = 4000; // milliseconds
const KINDS = { SUCCESS: "good", FAILURE: "bad", CANCELED: "bad" };

export function dagsterParts({ name, who, signal }) {
  const runs = new Part("opRuns", signal);
  const checks = new Part("opChecks", signal);
  const address = who.collections && name ? `/admin/runs?most=${MOST}&collection=${encodeURIComponent(name)}` : `/admin/runs?most=${MOST}`;
  let timer = 0;
  const look = async (until = 0) => {
    clearTimeout(timer);
    await runs.load(() => json(address), (seen) => {
      checks.fill(checksShown(seen));
      if (seen.runs.some((run) => !(run.status in KINDS)) || Date.now() < until) timer = setTimeout(() => look(until), AGAIN);
      return runsShown(seen);
    });
  };
  signal.addEventListener("abort", () => clearTimeout(timer));
  look();
  return { elements: [runs.element, checks.element], begun: () => look(Date.now() + 30_000) };
}

function runsShown(seen) {
  if (seen.problem) return h("p", { class: "dim" }, coded(said(seen.problem)));
  if (!seen.runs.length) return h("p", { class: "dim" }, t("opNoRuns"));
  const rows = seen.runs.map((run) => [link(run.url, run.job === "__ASSET_JOB" ? t("opBackfill") : run.job), quoted(run.collection ?? ""), state(t(`opRun_${run.status}`) === `opRun_${run.status}` ? run.status : t(`opRun_${run.status}`), KINDS[run.status] ?? "near"),
    when(run.started_at), h("span", { class: "numbers" }, lasted(run))]);
  return [h("p", {}, link(seen.url, t("opDagster"))), table(["opJob", "collection", "opState", "opBegan", "opLasted"], rows, t("opRuns"))];
}

function lasted(run) {
  if (!run.started_at || !run.ended_at) return "";
  const seconds = Math.round((new Date(run.ended_at) - new Date(run.started_at)) / 1000);
  return seconds < 90 ? t("seconds", seconds) : t("opMinutes", Math.round(seconds / 60));
}

// Those that do not hold come first; the many that do are folded.
function checksShown(seen) {
  if (seen.problem) return h("p", { class: "dim" }, t("opNoDagster"));
  if (!seen.checks.length) return h("p", { class: "dim" }, t("opNoChecks"));
  const bad = seen.checks.filter((one) => one.passed === false).concat(seen.checks.filter((one) => one.passed === null));
  const good = seen.checks.filter((one) => one.passed);
  return [bad.length ? checkTable(bad) : h("p", {}, state(t("opAllPassed", good.length), "good")),
    good.length ? h("details", {}, h("summary", {}, t("opPassedOnes", good.length)), checkTable(good)) : null];
}

function checkTable(checks) {
  const word = (one) => (one.passed === null ? state(t("opPending"), "near") : one.passed ? state(t("opPassed"), "good") : one.severity === "WARN" ? state(t("opWarns"), "warn") : state(t("opFailed"), "bad"));
  return table(["opCheck", "opState", "opSays", "opAt"], checks.map((one) => [link(one.url, one.name.replaceAll("_", " ")), word(one), [one.collection ? [quoted(one.collection), ": "] : null, quoted(one.message)], when(one.at)]), t("opChecks"));
}
