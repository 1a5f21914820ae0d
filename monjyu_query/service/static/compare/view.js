// The view `compare`: study tables.

import { studyTable } from "./table.js";

export function show(context) {
  return studyTable(context);
}
