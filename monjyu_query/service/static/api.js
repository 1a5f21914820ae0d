// Requests to the service this page comes from. The key, where one is needed, lives as long as the tab; the page's half
// of a session that a link has opened (the other is a cookie) is there for all tabs of this origin.

import { t } from "./i18n.js";
import { said } from "./said.js";

const KEY = "monjyu-key";
const SESSION = "monjyu-page";
let askForKey = async () => null;

export class ApiError extends Error {
  constructor(status, detail) {
    super();
    this.told = detail?.message ?? `HTTP ${status}`;
    this.status = status;
    this.type = detail?.type ?? "Error";
  }

  // In the language that the page has when it is shown.
  get message() {
    return said(this.told);
  }
}

// What a person can do about it. An abort stays what it is.
function inWords(error) {
  return error.name === "AbortError" || error instanceof ApiError ? error : new ApiError(0, { message: t("noService"), type: "Unreachable" });
}

export function hasKey() {
  return Boolean(sessionStorage.getItem(KEY));
}

export function onKeyNeeded(ask) {
  askForKey = ask;
}

export function keepKey(value) {
  if (value) sessionStorage.setItem(KEY, value);
  else sessionStorage.removeItem(KEY);
}

export async function request(path, options = {}) {
  const key = sessionStorage.getItem(KEY);
  const page = localStorage.getItem(SESSION);
  const headers = { ...options.headers, ...(key ? { Authorization: `Bearer ${key}` } : {}), ...(page ? { "X-Monjyu-Page": page } : {}) };
  const response = await fetch(path, { ...options, headers }).catch((error) => {
    throw inWords(error);
  });
  if (response.ok) return response;
  if (response.status === 401) {
    const given = await askForKey();
    if (given) {
      keepKey(given);
      return request(path, options);
    }
  }
  const body = await response.json().catch(() => null);
  throw new ApiError(response.status, body?.error);
}

export async function json(path) {
  return (await request(path)).json();
}

// The response to a body that is sent as JSON; `post` gives what it holds.
export function posted(path, body, signal) {
  return request(path, { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal });
}

export async function post(path, body, signal) {
  return (await posted(path, body, signal)).json();
}

// Makes this browser the page's editor, by the token of a link.
export async function openSession(token) {
  localStorage.setItem(SESSION, (await post("/page/session", { token })).page);
}

export function paperPath(id, rest = "") {
  return `/papers/${encodeURIComponent(id)}${rest}`;
}

// Events of a search, each given to `heard` as it comes; `begun` is given the id by which it can be stopped.
export async function stream(body, heard, signal, begun = () => {}) {
  const response = await posted("/search/stream", body, signal);
  begun(response.headers.get("X-Monjyu-Search"));
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const { value, done } = await reader.read().catch((error) => {
      throw inWords(error);
    });
    if (done) return;
    held += value;
    for (let end = held.indexOf("\n\n"); end >= 0; end = held.indexOf("\n\n")) {
      const data = held.slice(0, end).split("\n").filter((line) => line.startsWith("data:")).map((line) => line.slice(5).trimStart());
      held = held.slice(end + 2);
      if (data.length) heard(JSON.parse(data.join("\n")));
    }
  }
}

export function isEditor(who) {
  return ["editor", "admin"].includes(who.role);
}
