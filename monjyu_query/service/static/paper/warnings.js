// What was not read well of a file, in plain words with what that means; the parser's own words are folded beneath.

import { h, quoted } from "../dom.js";
import { t } from "../i18n.js";

// The parser's words, by how they begin, and our word for them (w_NAME: what it is and what it means).
const KINDS = [
  [/^not an academic paper: /, "notPaper"],
  [/^pages? ([\d,– -]+) (?:has|have) no usable text/, "noText"],
  [/^page (\d+) could not be read/, "badPage"],
  [/^not in the bibliography|^bibliography/, "bibliography"],
  [/^included files that are not there/, "included"],
  [/^front matter/, "frontMatter"],
  [/^unstructured/, "otherReader"],
  [/encoding|decoded|utf-?8|bytes/i, "encoding"],
];

export function caveats(warnings) {
  if (!warnings.length) return null;
  return h("section", { class: "caveats" }, h("h2", {}, t("caveats")), h("ul", { class: "warnings" }, warnings.map((text) => {
    const [pattern, kind] = KINDS.find(([one]) => one.test(text)) ?? [null, "other"];
    return h("li", {}, t(`w_${kind}`, pattern?.exec(text)?.[1] ?? ""), h("details", {}, h("summary", {}, t("saidExactly")), quoted(text)));
  })));
}
