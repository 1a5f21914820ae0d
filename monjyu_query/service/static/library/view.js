// The view `papers`: what the collection holds.

import { paperList } from "./list.js";

export function show(context) {
  return paperList(context);
}
