// What is asked, as the service takes it, and as an address holds it: the question, its settings, its filters, the snapshot.

import { BUDGETS, FILTERS } from "../declared.js";
export { BUDGETS };

const MOST_PAPERS = 60; // an address with more is too long for some programs: then it asks all papers of its other filters

export function isEmpty(filters) {
  return !Object.values(filters).some((value) => (Array.isArray(value) ? value.length : value !== undefined && value !== null && value !== ""));
}

// `{ query, mode, budget, sufficiency, filters, label, snapshot }` as named values.
export function paramsOf(asked) {
  const params = new URLSearchParams({ q: asked.query, mode: asked.mode });
  if (asked.budget) params.set("budget", String(asked.budget).replace("z", ""));
  if (asked.sufficiency === "off") params.set("enough", "off");
  for (const { name, one } of FILTERS) {
    const values = [asked.filters?.[name] ?? []].flat();
    if (values.length <= MOST_PAPERS) for (const value of values) params.append(one, value);
  }
  if (asked.label && params.has("paper")) params.set("label", asked.label);
  if (asked.snapshot) params.set("snapshot", asked.snapshot);
  return params;
}

function filtersFrom(params) {
  const filters = {};
  for (const { name, one, kind, many } of FILTERS) {
    const values = params.getAll(one).filter((value) => value.trim()).map((value) => valueOf(kind, value)).filter((value) => value !== null);
    if (values.length) filters[name] = many ? values : values[0];
  }
  return filters;
}

// The value of a filter in the text of an address; null where it is no such value.
function valueOf(kind, text) {
  if (kind === "boolean") return { true: true, false: false }[text] ?? null;
  return kind !== "integer" ? text : /^\d{1,4}$/.test(text) ? Number(text) : null;
}

export function askedFrom(params) {
  const budget = Number.parseInt(params.get("budget") ?? "", 10);
  return {
    query: params.get("q"), mode: params.get("mode"), budget: budget > 0 ? budgetOf(budget) : null,
    filters: filtersFrom(params), label: params.get("label") ?? "", snapshot: params.get("snapshot"),
    ...(params.get("enough") === "off" ? { sufficiency: "off" } : {}),
  };
}

// A preset where there is one of that size: an equal question is then answered from what is kept.
export function budgetOf(tests) {
  return BUDGETS.includes(`z${tests}`) ? `z${tests}` : tests;
}

export function addressOf(collection, asked) {
  return `#/ask/${encodeURIComponent(collection)}?${paramsOf(asked)}`;
}

// The body of POST /search/stream.
export function bodyOf(collection, asked, history) {
  return {
    query: asked.query, collection, mode: asked.mode, history,
    ...(asked.budget ? { budget: asked.budget } : {}),
    ...(asked.sufficiency && asked.budget ? { sufficiency: asked.sufficiency } : {}),
    ...(isEmpty(asked.filters ?? {}) ? {} : { filters: asked.filters }),
    ...(asked.snapshot ? { snapshot: asked.snapshot } : {}),
  };
}
