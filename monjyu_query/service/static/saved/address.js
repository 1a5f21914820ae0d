// Addresses inside the view.

export function address(name, ...rest) {
  return `#/${["questions", name, ...rest].map(encodeURIComponent).join("/")}`;
}
