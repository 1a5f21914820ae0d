// The view `start`: shown while there is no collection. It says what to do, and offers the samples.

import { request } from "../api.js";
import { h, replace, say } from "../dom.js";
import { addWords, t } from "../i18n.js";
import { words } from "./words.js";

addWords(words);

export function show({ who, signal, refresh }) {
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const working = h("p", { role: "status" });
  const bring = async (event) => {
    const button = event.currentTarget;
    button.disabled = true;
    failed.hidden = true;
    try {
      await request("/admin/samples", { method: "POST", signal });
      replace(working, t("startWorking"));
      const timer = setInterval(refresh, 3000);
      signal.addEventListener("abort", () => clearInterval(timer));
    } catch (error) {
      failed.hidden = false;
      button.disabled = false;
      replace(failed, error.message);
    }
  };
  const may = who.role === "editor" || who.role === "admin";
  return h("div", { class: "column stacked" }, h("h1", { tabindex: "-1" }, t("startTitle")), h("p", {}, t("startWhy")),
    h("h2", {}, t("startSamples")),
    may ? h("p", {}, h("button", { type: "button", class: "primary", onclick: bring }, t("startBring"))) : null, working, failed,
    h("p", { class: "dim" }, t("startCommands")), command("monjyu index data/samples/papers -c samples"), command("monjyu serve"),
    h("h2", {}, t("startOwn")), command("monjyu index FOLDER"));
}

function command(text) {
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    say(t("startCopied"));
  };
  return h("p", { class: "row" }, h("code", {}, text), h("button", { type: "button", class: "small", onclick: copy, "aria-label": `${t("startCopy")}: ${text}` }, t("startCopy")));
}
