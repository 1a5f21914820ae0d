// Papers brought in by hand, by a click or dropped anywhere on the library: stored, indexed, searchable, step by step.

import { isEditor, json, request } from "../api.js";
import { coded, h, quoted, replace, say } from "../dom.js";
import { editorNeeded } from "../editor.js";
import { t } from "../i18n.js";
import { begin, notBegun, underWay, watch } from "../indexing.js";
import { said } from "../said.js";
import { cause } from "./problems.js";

const TOGETHER = 20; // files sent at once
export const NAME = "[a-z0-9][a-z0-9_\\-]{0,63}";

// A box that takes files, for a collection that may be a new one. `done(collection)` once they are searchable.
export function uploader({ name, offered, signal, who }, done) {
  const failed = h("p", { class: "error", role: "alert", hidden: true });
  const into = h("input", { id: "upload-into", pattern: NAME, maxlength: 64, required: true, autocomplete: "off", spellcheck: "false", value: offered ?? "", oninput: () => tellFolder() });
  const over = h("input", { id: "upload-over", type: "checkbox" });
  const files = h("input", { id: "upload", type: "file", multiple: true, class: "unseen", onchange: () => send([...files.files]) });
  const steps = h("ol", { class: "steps", role: "status" });
  const place = h("div", {});
  const goes = h("p", { class: "goes" });
  const tellFolder = () => replace(goes, t(`goes_${who.indexing}`, h("code", {}, `papers/${into.value || "…"}/`)));
  const step = (...words) => steps.append(h("li", {}, words));
  const wrong = (word) => {
    failed.hidden = !word;
    replace(failed, coded(word));
  };
  const store = async (collection, given) => {
    const stored = [];
    for (let from = 0; from < given.length; from += TOGETHER) {
      const form = new FormData();
      form.append("collection", collection);
      if (over.checked) form.append("replace", "true");
      for (const file of given.slice(from, from + TOGETHER)) form.append("files", file);
      stored.push(...(await (await request("/admin/papers", { method: "POST", body: form, signal })).json()).files);
      if (given.length > TOGETHER) say(t("storedOf", stored.length, given.length));
    }
    return stored;
  };
  const send = async (given) => {
    wrong("");
    if (!given.length) return;
    if (!into.checkValidity()) {
      wrong(t("nameWrong"));
      into.focus();
      return;
    }
    const collection = into.value;
    replace(steps);
    step(t("storing", given.length));
    files.disabled = true;
    try {
      const held = await store(collection, given);
      const kept = held.filter((one) => one.outcome !== "refused");
      step(t("stored", kept.length));
      for (const one of held) if (one.message) step(h("span", { class: "error" }, quoted(one.name), ": ", said(one.message)));
      if (kept.length) await index(collection, kept.map((one) => one.name));
    } catch (error) {
      if (error.name !== "AbortError") wrong(error.message);
    } finally {
      files.disabled = false;
      files.value = "";
    }
  };
  const index = async (collection, names) => {
    try {
      await begin(collection, names, place, signal);
    } catch (error) {
      replace(place, notBegun(error));
      return;
    }
    await follow(collection);
  };
  const follow = (collection) => watch(collection, place, signal, async (names) => {
    replace(place);
    await outcome(collection, names, step);
    done(collection);
    replace(place, h("p", {}, h("a", { class: "button primary", href: `#/ask/${encodeURIComponent(collection)}` }, t("askAboutThem"))));
  });
  if (name && underWay(name)) follow(name);
  const box = h("div", { class: "drop" }, h("p", {}, t("dropHere")), goes,
    h("div", { class: "row" }, h("label", { class: "button", for: "upload" }, t("chooseFiles")), files,
      h("div", { class: "field" }, h("label", { for: "upload-into" }, t("uploadInto")), into)),
    h("p", {}, h("label", {}, over, " ", t("replaceSame"))), h("p", { class: "dim" }, t("kinds")));
  const elsewhere = () => {
    if (into.value === name) into.value = `${name.slice(0, 56)}-uploads`;
    box.prepend(h("p", { class: "dim" }, t("liesElsewhere", name)));
    tellFolder();
  };
  tellFolder();
  return { element: h("div", {}, box, failed, steps, place), send, box, elsewhere };
}

// What became of the files: those that could not be read, with why.
async function outcome(collection, names, step) {
  const found = await json(`/library/problems?collection=${encodeURIComponent(collection)}`).catch(() => null);
  const wrong = [...(found?.failed ?? []), ...(found?.unsupported ?? [])].filter((one) => names.includes(one.file));
  for (const one of wrong) step(h("span", { class: "error" }, quoted(one.file), ": ", cause(one)));
  if (names.length > wrong.length || !names.length) step(t("searchable", names.length - wrong.length));
}

// The library's part: folded until somebody wants it, or drags files over the page. `told(problems)` lets it know
// whether the collection takes files.
export function upload(context, library, done) {
  const { name, who, signal, refresh } = context;
  if (!isEditor(who)) return { element: h("details", { class: "adding" }, h("summary", {}, t("addPapers")), editorNeeded(context, t("noUpload"))), told: () => {} };
  const arrived = async (collection) => {
    if (collection === name) done();
    await refresh(true);
  };
  const made = uploader({ name, offered: name, signal, who }, arrived);
  const fold = h("details", { class: "adding", open: Boolean(underWay(name)) }, h("summary", {}, t("addPapers")), made.element);
  takesDrops(library, made, () => { fold.open = true; });
  let told = false;
  return { element: fold, told: (problems) => {
    if (!told && !problems.takes_uploads) made.elsewhere();
    told = true;
  } };
}

// Files dropped anywhere on the element go to the uploader.
export function takesDrops(element, made, noticed = () => {}) {
  const holds = (event) => event.dataTransfer?.types.includes("Files");
  element.addEventListener("dragover", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    noticed();
    made.box.classList.add("over");
  });
  element.addEventListener("dragleave", (event) => {
    if (!element.contains(event.relatedTarget)) made.box.classList.remove("over");
  });
  element.addEventListener("drop", (event) => {
    if (!holds(event)) return;
    event.preventDefault();
    made.box.classList.remove("over");
    made.send([...event.dataTransfer.files]);
  });
}
