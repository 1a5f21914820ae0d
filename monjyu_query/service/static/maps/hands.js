// How a map is moved: wheel, drag, two fingers, keys. `acts`: hover(node), choose(node), open(node), walk(step), touched().

const STEP = 60;
const NEARER = 1.25;
const CLICK = 5; // pixels that a click may move

export function handle(picture, acts, signal) {
  const { canvas, camera } = picture;
  const fingers = new Map();
  let travelled = 0;
  let apart = 0;
  const place = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };
  const moved = () => {
    acts.touched();
    picture.ask(true);
  };
  const on = (name, react, options = {}) => canvas.addEventListener(name, react, { signal, ...options });
  on("wheel", (event) => {
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : 1;
    camera.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0016)), ...place(event));
    moved();
  }, { passive: false });
  on("pointerdown", (event) => {
    canvas.setPointerCapture(event.pointerId);
    fingers.set(event.pointerId, place(event));
    if (fingers.size === 1) travelled = 0;
    apart = spread(fingers);
  });
  on("pointermove", (event) => {
    const [x, y] = place(event);
    const before = fingers.get(event.pointerId);
    if (!before) {
      acts.hover(picture.under(x, y), x, y);
      return;
    }
    const [across, down] = [x - before[0], y - before[1]];
    travelled += Math.abs(across) + Math.abs(down);
    if (travelled < CLICK && fingers.size === 1) return;
    fingers.set(event.pointerId, [x, y]);
    camera.pan(across / fingers.size, down / fingers.size);
    if (fingers.size === 2) {
      const now = spread(fingers);
      if (apart && now) camera.zoom(now / apart, ...between(fingers));
      apart = now;
    }
    canvas.classList.add("dragging");
    moved();
  });
  const up = (event) => {
    const pressed = fingers.get(event.pointerId);
    fingers.delete(event.pointerId);
    apart = spread(fingers);
    canvas.classList.remove("dragging");
    if (pressed && event.type === "pointerup" && travelled < CLICK) acts.choose(picture.under(...place(event), event.pointerType === "touch" ? 16 : 5));
  };
  on("pointerup", up);
  on("pointercancel", up);
  on("pointerleave", () => acts.hover(-1));
  on("dblclick", (event) => {
    const node = picture.under(...place(event));
    if (node >= 0) return acts.open(node);
    camera.zoom(2, ...place(event));
    return moved();
  });
  const keys = {
    ArrowLeft: () => camera.pan(STEP, 0), ArrowRight: () => camera.pan(-STEP, 0),
    ArrowUp: () => camera.pan(0, STEP), ArrowDown: () => camera.pan(0, -STEP),
    "+": () => camera.zoom(NEARER), "=": () => camera.zoom(NEARER), "-": () => camera.zoom(1 / NEARER), 0: () => acts.fit(),
  };
  const walks = { ".": () => acts.walk(1), ",": () => acts.walk(-1), Enter: () => acts.open(picture.chosen), Escape: () => acts.choose(-1) };
  on("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const react = keys[event.key] ?? walks[event.key];
    if (!react) return;
    if (event.key !== "Escape" || picture.chosen >= 0) event.preventDefault();
    react();
    if (event.key in keys) moved();
  });
}

export function zoomButtons(picture, acts, words) {
  const by = (factor) => () => {
    picture.camera.zoom(factor);
    acts.touched();
    picture.ask(true);
  };
  return [["+", words.nearer, by(NEARER ** 2)], ["−", words.further, by(1 / NEARER ** 2)], ["⤢", words.whole, acts.fit]];
}

function spread(fingers) {
  if (fingers.size !== 2) return 0;
  const [[x1, y1], [x2, y2]] = [...fingers.values()];
  return Math.hypot(x1 - x2, y1 - y2);
}

function between(fingers) {
  const [[x1, y1], [x2, y2]] = [...fingers.values()];
  return [(x1 + x2) / 2, (y1 + y2) / 2];
}
