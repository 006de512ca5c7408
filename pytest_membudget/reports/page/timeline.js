// Heap and resident set over the time that a test ran, drawn to the width there is.

function timelineOf(test) {
  const heading = make("h2", {}, "While the test ran");
  if (!test.timeline) {
    const text = test.sites ? "The test was over before memory could be looked at twice." : "No timeline was recorded.";
    return make("div", {}, heading, make("p", { className: "facts" }, text));
  }
  const [unit, times, heap, resident] = test.timeline;
  const moments = times.map((at, i) => ({ at, heap: heap[i] * unit, resident: resident[i] * unit }));
  const drawing = { moments, budget: useOf(test, "ram")?.[2] ?? null };
  drawing.top = Math.max(1, ...moments.map((moment) => Math.max(moment.heap, moment.resident)));
  drawing.showsBudget = drawing.budget !== null && drawing.budget <= 1.6 * drawing.top;
  return make("div", {}, heading, figureOf(drawing));
}

function figureOf(drawing) {
  const reading = make("output");
  const picture = make("div");
  const caption = make(
    "figcaption",
    {},
    make("span", { className: "key heap" }, "heap"),
    make("span", { className: "key resident" }, "resident set, growth"),
    drawing.showsBudget ? make("span", { className: "key budget" }, "heap budget") : null,
    reading,
  );
  const figure = make("figure", {}, picture, caption);
  let width = 0;
  new ResizeObserver(() => {
    // The figure also grows with its caption, and a drawing anew would lose its cursor.
    if (picture.clientWidth === width) return;
    width = picture.clientWidth;
    picture.replaceChildren(drawn(drawing, width, reading));
  }).observe(figure);
  return figure;
}

const HEIGHT = 190;
const EDGE = { left: 62, right: 8, top: 10, bottom: 22 };

function drawn(drawing, width, reading) {
  const { moments, budget, showsBudget } = drawing;
  const last = Math.max(1, moments[moments.length - 1].at);
  const highest = 1.05 * Math.max(drawing.top, showsBudget ? budget : 0);
  const lowest = Math.min(0, ...moments.map((moment) => moment.resident));
  const x = (at) => EDGE.left + (at / last) * (width - EDGE.left - EDGE.right);
  const y = (bytes) => HEIGHT - EDGE.bottom - ((bytes - lowest) / (highest - lowest)) * (HEIGHT - EDGE.top - EDGE.bottom);
  const path = (what) => moments.map((moment) => `${x(moment.at).toFixed(1)} ${y(moment[what]).toFixed(1)}`).join("L");
  const svg = shape("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, height: HEIGHT, role: "img", tabindex: 0 });
  svg.setAttribute("aria-label", spoken(drawing, last));
  for (const bytes of steps(lowest, highest, binaryStep((highest - lowest) / 4))) {
    svg.append(
      shape("line", { class: "grid", x1: EDGE.left, x2: width - EDGE.right, y1: y(bytes), y2: y(bytes) }),
      label(EDGE.left - 8, y(bytes) + 4, "end", size(bytes)),
    );
  }
  for (const at of steps(0, last, decimalStep(last / (width / 90)))) {
    svg.append(label(x(at), HEIGHT - 5, at === 0 ? "start" : x(at) > width - 40 ? "end" : "middle", duration(at)));
  }
  const heap = path("heap");
  svg.append(
    shape("path", { class: "area", d: `M${x(moments[0].at)} ${y(0)}L${heap}L${x(last)} ${y(0)}` }),
    shape("path", { class: "heap", d: `M${heap}` }),
    shape("path", { class: "resident", d: `M${path("resident")}` }),
  );
  if (showsBudget) {
    svg.append(shape("line", { class: "budget", x1: EDGE.left, x2: width - EDGE.right, y1: y(budget), y2: y(budget) }));
  }
  followed(svg, drawing, x, width, reading);
  return svg;
}

function spoken({ moments, budget }, last) {
  const peak = Math.max(...moments.map((moment) => moment.heap));
  const limit = budget === null ? "" : `, budget ${size(budget)}`;
  return `Memory over ${duration(last)}: highest heap seen ${size(peak)}${limit}. Arrow keys read single moments.`;
}

// Pointer and arrow keys move a cursor over the moments; the figure's caption reads them out.
function followed(svg, { moments }, x, width, reading) {
  const cursor = shape("line", { class: "cursor", y1: EDGE.top, y2: HEIGHT - EDGE.bottom, visibility: "hidden" });
  let place = -1;
  const moveTo = (next) => {
    place = Math.max(0, Math.min(moments.length - 1, next));
    const { at, heap, resident } = moments[place];
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, x(at));
    cursor.setAttribute("visibility", "visible");
    reading.textContent = `at ${duration(at)}: heap ${size(heap)}, resident ${resident < 0 ? "" : "+"}${size(resident)}`;
  };
  svg.append(cursor);
  svg.addEventListener("pointermove", (event) => {
    const left = (event.clientX - svg.getBoundingClientRect().left) * (width / svg.clientWidth);
    const distance = (moment) => Math.abs(x(moment.at) - left);
    moveTo(moments.reduce((best, moment, i) => (distance(moment) < distance(moments[best]) ? i : best), 0));
  });
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!step) return;
    event.preventDefault();
    moveTo(place + step);
  });
}

function shape(tag, attributes) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  return element;
}

function label(x, y, anchor, text) {
  const element = shape("text", { x, y, "text-anchor": anchor });
  element.textContent = text;
  return element;
}

function steps(lowest, highest, step) {
  const first = Math.ceil(lowest / step);
  return Array.from({ length: Math.floor(highest / step) - first + 1 }, (_, i) => (first + i) * step);
}

function binaryStep(least) {
  return 2 ** Math.max(0, Math.ceil(Math.log2(least)));
}

function decimalStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return Math.max(1, [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= least));
}
