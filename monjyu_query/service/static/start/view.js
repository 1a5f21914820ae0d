// The view `start`: shown while there is no collection. It says what to do, offers the samples, and takes one's own papers.

import { isEditor, request } from "../api.js";
import { copy, h, replace } from "../dom.js";
import { addWords, t } from "../i18n.js";
import { notBegun, remember, underWay, watch } from "../indexing.js";
import { editorNeeded } from "../editor.js";
import { takesDrops, uploader } from "../library/upload.js";
import "../library/words.js";
import { words } from "./words.js";

addWords(words);

const SAMPLES = "samples";
const OWN = "my-papers";

export function show(context) {
  const { who, signal, refresh, go } = context;
  const element = h("div", { class: "column stacked" }, h("h1", { tabindex: "-1" }, t("startTitle")), h("p", {}, t("startWhy")));
  const arrived = async (collection) => {
    await refresh(true);
    go("ask", collection);
  };
  const may = isEditor(who);
  const own = may ? uploader({ name: OWN, offered: OWN, signal, who }, arrived) : null;
  element.append(h("h2", {}, t("startSamples")), may ? samples(signal, arrived) : editorNeeded(context, t("noUpload")),
    h("h2", {}, t("startOwn")), own ? own.element : h("p", { class: "dim" }, t("startOwnKey")),
    h("details", {}, h("summary", {}, t("startCommands")), command("monjyu index data/samples/papers -c samples"), command("monjyu index FOLDER"), command("monjyu up")));
  if (own) takesDrops(element, own);
  return element;
}

function samples(signal, arrived) {
  const place = h("div", {});
  const button = h("button", { type: "button", class: "primary", disabled: Boolean(underWay(SAMPLES)), onclick: async () => {
    button.disabled = true;
    try {
      remember(await (await request("/admin/samples", { method: "POST", signal })).json());
      await follow();
    } catch (error) {
      button.disabled = false;
      if (error.name !== "AbortError") replace(place, notBegun(error));
    }
  } }, t("startBring"));
  const follow = async () => {
    await watch(SAMPLES, place, signal, () => arrived(SAMPLES));
    button.disabled = false;
  };
  if (underWay(SAMPLES)) follow();
  return h("div", {}, h("p", { class: "dim" }, t("startSamplesAre")), h("p", {}, button), place);
}

function command(text) {
  const button = h("button", { type: "button", class: "small", onclick: () => copy(text, button), "aria-label": `${t("startCopy")}: ${text}` }, t("startCopy"));
  return h("p", { class: "row command-line" }, h("code", {}, text), button);
}
