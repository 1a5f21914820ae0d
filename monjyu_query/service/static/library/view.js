// The view `papers`: what the collection holds.

import { library } from "./list.js";

export function show(context) {
  return library(context);
}
