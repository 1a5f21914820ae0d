// The ways to search, as options: five under names that need no manual, the others below them.

import { h } from "../dom.js";
import { t } from "../i18n.js";

const MAIN = ["auto", "hybrid", "lazy", "global", "keyword"];

export function modeOptions(modes, chosen = "auto") {
  const option = (mode) => h("option", { value: mode, selected: mode === chosen }, t(`mode_${mode}`));
  const others = modes.filter((mode) => !MAIN.includes(mode));
  return [MAIN.filter((mode) => modes.includes(mode)).map(option), others.length ? h("optgroup", { label: t("moreModes") }, others.map(option)) : null];
}
