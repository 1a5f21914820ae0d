// What is checked: text that is pasted, or a file that is chosen or dropped; and the works that its keys name.

import { h, replace } from "../dom.js";
import { t } from "../i18n.js";

const MOST_CHARACTERS = 200_000;
const FORMATS = { md: "markdown", markdown: "markdown", tex: "latex", txt: "text", docx: "docx" };
const LATEX = /\\(?:cite|section|begin)\w*\s*[[{]/;

export const kept = { text: "", format: "", word: null, bibliography: "", bibliographyName: "", answer: null, collection: "" };

export function keep(values) {
  Object.assign(kept, values);
}

// The body of the request without its collection; null where there is nothing to check.
export function draftOf() {
  const { bibliography } = kept;
  if (kept.word) return { text: kept.word.base64, format: "docx", bibliography };
  const text = kept.text.trim();
  return text ? { text, format: kept.format || (LATEX.test(text) ? "latex" : "markdown"), bibliography } : null;
}

export function draftField(wrong) {
  const box = h("textarea", { id: "draft-text", rows: 8, maxlength: MOST_CHARACTERS, placeholder: t("draftPlaceholder") });
  const name = h("p", { class: "dim", role: "status" });
  const tell = () => replace(name, kept.word ? t("draftWord", kept.word.name) : null);
  const take = async (file) => {
    try {
      await taken(file);
      box.value = kept.text;
      tell();
    } catch (error) {
      wrong(error);
    }
  };
  box.value = kept.text;
  tell();
  box.addEventListener("input", () => {
    keep({ text: box.value, format: "", word: null });
    tell();
  });
  const field = h("div", { class: "drop" }, h("label", { for: "draft-text" }, t("draftText")), box, name,
    h("label", { class: "file" }, t("draftFile"), " ", h("input", { type: "file", id: "draft-file", accept: ".md,.markdown,.tex,.txt,.docx", onchange: (event) => event.target.files[0] && take(event.target.files[0]) })));
  field.addEventListener("dragover", (event) => {
    event.preventDefault();
    field.classList.add("over");
  });
  field.addEventListener("dragleave", () => field.classList.remove("over"));
  field.addEventListener("drop", (event) => {
    event.preventDefault();
    field.classList.remove("over");
    const [file] = event.dataTransfer.files;
    if (file) take(file);
  });
  return field;
}

export function bibliographyField(wrong) {
  const name = h("span", { class: "dim" }, kept.bibliographyName);
  const take = async (file) => {
    try {
      if (file.size > MOST_CHARACTERS) throw new Error(t("draftLarge", file.name));
      keep({ bibliography: await file.text(), bibliographyName: file.name });
      replace(name, file.name);
    } catch (error) {
      wrong(error);
    }
  };
  return h("p", {}, h("label", { class: "file" }, t("draftBib"), " ", h("input", { type: "file", id: "draft-bib", accept: ".bib,.json", onchange: (event) => event.target.files[0] && take(event.target.files[0]) })), " ", name);
}

async function taken(file) {
  const format = FORMATS[file.name.split(".").pop().toLowerCase()];
  if (!format) throw new Error(t("draftUnknown", file.name));
  if (format === "docx") {
    const base64 = await inBase64(file);
    if (base64.length > MOST_CHARACTERS) throw new Error(t("draftLarge", file.name));
    return keep({ word: { name: file.name, base64 }, text: "", format });
  }
  const text = await file.text();
  if (text.length > MOST_CHARACTERS) throw new Error(t("draftLarge", file.name));
  keep({ text, format, word: null });
}

function inBase64(file) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(file);
  });
}
