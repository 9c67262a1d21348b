/* The form of the page "What is my epsilon?" (notebooks/my_epsilon.md).

   The same accountant as in the page's cells, with the table of cells that the
   page has computed: see there why the answer is an interval with the truth
   inside. Nothing is sent anywhere. */
"use strict";

(() => {
  const { cells, per, reach } = JSON.parse(
    document.getElementById("my-epsilon-data").textContent);
  const NODES = 240; // on each side of the ratio 1
  const TOP = 50; // largest loss of a node
  const MOST = 1e100; // largest ratio of a law from below
  const LEFT_OUT = 1e-22; // at most, of P and of Q, beyond the cells
  const ROUNDING = 2e-10; // of masses and ratios, for each step

  /* Mass of a cell under a normal law that is moved by so many cells. */
  const mass = (cell, moved) => {
    const k = cell - moved;
    return cells[k >= 0 ? k : -1 - k] ?? 0;
  };

  const nodes = (spread) => {
    const gap = Math.asinh(TOP / spread) / NODES;
    const found = new Float64Array(2 * NODES + 2); // the first one is 0
    for (let k = -NODES; k <= NODES; k += 1)
      found[k + NODES + 1] = Math.exp(spread * Math.sinh(gap * k));
    return found;
  };

  /* A law that takes in ratios, in runs that rise. Above the truth a mass is
     split between two nodes; below it is merged with others. */
  const collector = (spread, side) => {
    const grid = nodes(spread), last = grid.length - 1;
    const q = new Float64Array(last + 1), p = new Float64Array(last + 1);
    let infinite = 0, k = 0;
    const start = () => {
      k = 0;
    };
    const take = (ratio, share) => {
      while (k < last && grid[k + 1] <= ratio) k += 1;
      if (side === "lower") {
        q[k] += share;
        p[k] += share * Math.min(ratio, MOST);
      } else if (k === last) {
        q[k] += share;
        infinite += share * (ratio - grid[k]);
      } else {
        const up = (ratio - grid[k]) / (grid[k + 1] - grid[k]);
        q[k] += share * (1 - up);
        q[k + 1] += share * up;
      }
    };
    const law = () => {
      const kept = [...q.keys()].filter((i) => q[i] > 0);
      const ratio = kept.map((i) => (side === "lower" ? p[i] / q[i] : grid[i]));
      return { ratio, q: kept.map((i) => q[i]), infinite, spread };
    };
    return { start, take, law };
  };

  /* The law of one step; `moved` is the shift in cells. */
  const oneStep = ({ moved, rate, exchanged }, side) => {
    const found = [];
    const edge = (cell) => {
      const [z, shift] = [cell / per, moved / per];
      const up = 1 - rate + rate * Math.exp(shift * z - (shift * shift) / 2);
      const down = 1 - rate + rate * Math.exp(-shift * z - (shift * shift) / 2);
      return exchanged ? up / down : up;
    };
    for (let cell = -reach * per; cell < reach * per; cell += 1) {
      const rest = (1 - rate) * mass(cell, 0);
      const p = rest + rate * mass(cell, moved);
      const q = exchanged ? rest + rate * mass(cell, -moved) : mass(cell, 0);
      found.push([p, q, edge(cell), edge(cell + 1)]);
    }
    const spread = Math.sqrt(
      found.reduce((sum, [p, q]) => sum + q * Math.log(p / q) ** 2, 0));
    const law = collector(spread, side);
    for (const [p, q, left, right] of found) {
      if (side === "lower") law.take(p / q, q);
      else {
        const part = right > left ? (p / q - left) / (right - left) : 0;
        const share = Math.min(Math.max(part, 0), 1);
        law.take(left, q * (1 - share));
        law.take(right, q * share);
      }
    }
    const made = law.law();
    if (side === "upper") made.infinite += LEFT_OUT;
    return { ...made, count: 1 };
  };

  /* Two laws become one: products of ratios, or means of `count` of them. */
  const join = (a, b, side, means) => {
    const [x, y] = means ? [a.count, b.count] : [1, 1];
    const spread = Math.hypot(x * a.spread, y * b.spread) / (means ? x + y : 1);
    const law = collector(spread, side);
    for (let i = 0; i < a.q.length; i += 1) {
      law.start();
      for (let j = 0; j < b.q.length; j += 1) {
        const ratio = means
          ? (x * a.ratio[i] + y * b.ratio[j]) / (x + y)
          : a.ratio[i] * b.ratio[j];
        law.take(ratio, a.q[i] * b.q[j]);
      }
    }
    const made = law.law();
    const infinite = means
      ? (x * a.infinite + y * b.infinite) / (x + y)
      : a.infinite + b.infinite;
    made.infinite += infinite;
    return { ...made, count: x + y };
  };

  /* A law joined with itself, `number` of them, by doubling. */
  const many = (law, number, side, means) => {
    let [found, power] = [null, law];
    for (let left = number; ; ) {
      if (left % 2) found = found ? join(found, power, side, means) : power;
      left = Math.floor(left / 2);
      if (!left) return found;
      power = join(power, power, side, means);
    }
  };

  /* The delta of a law: what is above the truth is made larger by all that
     rounding may have taken, what is below smaller. */
  const delta = (law, epsilon, { ways, steps }, side) => {
    const sign = side === "upper" ? 1 : -1;
    const room = 1 + sign * ROUNDING * (steps + 64);
    const line = Math.exp(epsilon);
    let [remove, add] = [law.infinite, 0];
    law.ratio.forEach((ratio, i) => {
      remove += law.q[i] * Math.max(ratio * room - line, 0);
      add += law.q[i] * Math.max(1 - (line * ratio) / room, 0);
    });
    return room * Math.max(ways.remove ? remove : 0, ways.add ? add : 0);
  };

  const end = (law, run, side) => {
    const above = (at) => delta(law, at, run, side) > run.delta;
    if (!above(0)) return 0;
    let [low, high] = [0, TOP];
    if (above(high)) return side === "upper" ? Infinity : high;
    for (let k = 0; k < 60; k += 1) {
      const middle = (low + high) / 2;
      if (above(middle)) low = middle;
      else high = middle;
    }
    return side === "upper" ? high : low;
  };

  /* An interval for the epsilon of a run: shift, rate, exchanged, steps,
     epochs (0: no random allocation), delta, ways. The shift is rounded to
     whole cells, up for more privacy loss and down for less. */
  const interval = (run) =>
    ["lower", "upper"].map((side) => {
      const exact = run.shift * per; // up to a rounding error
      const moved =
        side === "upper"
          ? Math.ceil(exact * (1 - 1e-15))
          : Math.floor(exact * (1 + 1e-15));
      if (!moved) return 0;
      let law = oneStep({ ...run, moved }, side);
      if (run.epochs) {
        law = many(law, run.steps / run.epochs, side, true);
        law = many(law, run.epochs, side, false);
      } else law = many(law, run.steps, side, false);
      return end(law, run, side);
    });

  /* --- The form */

  const FIELDS = [
    ["noise", "noise multiplier", 0.8, 0.25, 50],
    ["rate", "sampling rate", 0.001, 1e-5, 1],
    ["batch", "records in a batch", 100, 1, 1e12],
    ["records", "records in the data set", 100000, 2, 1e12],
    ["steps", "steps", 10000, 1, 1e6],
    ["slots", "steps in an epoch", 1000, 1, 1e6],
    ["epochs", "epochs", 10, 1, 1e6],
    ["delta", "delta", "1e-6", 1e-12, 0.1],
  ];
  const WHOLE = new Set(["batch", "records", "steps", "slots", "epochs"]);
  const SAMPLERS = {
    poisson: ["Poisson samples", "rate steps"],
    fixed: ["fixed batches", "batch records steps"],
    full: ["full batches", "steps"],
    allocation: ["random allocation", "slots epochs"],
  };
  const ADJACENCIES = {
    "add-or-remove": "added or removed",
    remove: "removed",
    add: "added",
    substitute: "substituted by another",
    "zero-out": "zeroed out",
  };

  const make = (parent, name, attributes = {}, text = "") => {
    const node = document.createElement(name);
    for (const [key, value] of Object.entries(attributes))
      node.setAttribute(key, value);
    node.append(text);
    parent.append(node);
    return node;
  };

  const makeLine = (form, id, name, kind, attributes) => {
    const line = make(form, "div", { class: "control" });
    make(line, "label", { for: `my-${id}` }, name);
    return make(line, kind, { id: `my-${id}`, ...attributes });
  };

  const makeList = (form, id, name, entries) => {
    const list = makeLine(form, id, name, "select", {});
    for (const [value, text] of entries) make(list, "option", { value }, text);
    return list;
  };

  /* The call of Python with the same question. */
  const callOf = ({ sampler, adjacency, typed, ...x }) => {
    const sampling = {
      poisson: `al.Poisson(${typed.rate})`,
      fixed: `al.FixedBatch(${x.batch}, ${x.records})`,
      full: "al.FullBatch()",
      allocation: `al.RandomAllocation(${x.slots})`,
    }[sampler];
    const count = sampler === "allocation" ? x.epochs : x.steps;
    return `import accountlib as al

run = al.Release(
    al.Gaussian(${typed.noise}),
    ${sampling},
    count=${count},
)
print(al.epsilon(
    run, delta=${typed.delta}, adjacency="${adjacency}"
))`;
  };

  /* Why a question has no answer here, if it has none. */
  const refusal = ({ sampler, adjacency, ...x }, asked) => {
    for (const [id, name, , least, most] of FIELDS) {
      const inside = x[id] >= least && x[id] <= most;
      const whole = !WHOLE.has(id) || Number.isInteger(x[id]);
      if (asked.has(id) && !(inside && whole))
        return `This form needs ${WHOLE.has(id) ? "a whole number" : "a value"} `
          + `from ${least} to ${most} as ${name}.`;
    }
    if (sampler === "fixed" && x.batch >= x.records)
      return "A batch must be smaller than the data set.";
    if (sampler === "fixed" && x.noise < 0.5)
      return "For fixed batches this form needs a noise multiplier of 0.5.";
    if (sampler === "fixed" && x.batch / x.records < 1e-5)
      return "This form needs a batch of at least 1e-5 of the data set.";
    if (sampler === "allocation" && x.slots * x.epochs > 1e6)
      return "This form counts at most 1e6 steps.";
    if (sampler === "fixed" && ["substitute", "zero-out"].includes(adjacency))
      return "For fixed batches this form knows added and removed records only.";
    if (sampler === "allocation" && adjacency === "substitute")
      return "For random allocation this form knows no substituted records.";
    return "";
  };

  const runOf = ({ sampler, adjacency, ...x }) => ({
    shift: (sampler === "fixed" ? 2 : 1) / x.noise,
    rate: { poisson: x.rate, fixed: x.batch / x.records }[sampler] ?? 1,
    exchanged: adjacency === "substitute",
    steps: sampler === "allocation" ? x.slots * x.epochs : x.steps,
    epochs: sampler === "allocation" ? x.epochs : 0,
    delta: x.delta,
    ways: { remove: adjacency !== "add", add: adjacency !== "remove" },
  });

  /* Four digits, rounded away from the truth. */
  const rounded = (value, side) => {
    if (!value) return "0";
    const unit = 10 ** (Math.floor(Math.log10(value)) - 3);
    const move = side === "upper" ? 1 : -1;
    let text = value.toPrecision(4);
    while ((Number(text) - value) * move < 0)
      text = (Number(text) + move * unit).toPrecision(4);
    return String(Number(text));
  };

  const words = (asked) => {
    const no = refusal(asked.values, asked.ids);
    if (no) return `${no} Python may know more:`;
    const [low, high] = interval(runOf(asked.values));
    const where = `at delta = ${asked.values.typed.delta}, if one record is `
      + `${ADJACENCIES[asked.values.adjacency]}`;
    if (high === Infinity)
      return `Epsilon is at least ${rounded(low, "lower")} ${where}. `
        + "This form has no upper end so far out; Python has one:";
    return `Epsilon lies between ${rounded(low, "lower")} and `
      + `${rounded(high, "upper")} ${where}. Narrower:`;
  };

  const place = document.getElementById("my-epsilon");
  place.replaceChildren();
  place.classList.add("play");
  const form = make(place, "form", { class: "controls" });
  const samplers = Object.entries(SAMPLERS).map(([key, [name]]) => [key, name]);
  const sampler = makeList(form, "sampler", "sampling", samplers);
  const inputs = FIELDS.map(([id, name, start]) =>
    makeLine(form, id, name, "input", {
      type: "number", step: "any", value: start, inputmode: "decimal",
    }));
  const adjacency = makeList(
    form, "adjacency", "one record is", Object.entries(ADJACENCIES));
  const said = make(place, "p", { class: "says", "aria-live": "polite" });
  const box = { tabindex: 0, "aria-label": "Python call", role: "region" };
  const call = make(make(place, "pre", box), "code");

  const answer = () => {
    const ids = new Set(SAMPLERS[sampler.value][1].split(" "));
    ids.add("noise").add("delta");
    const [how, who] = [sampler.value, adjacency.value];
    const values = { sampler: how, adjacency: who, typed: {} };
    FIELDS.forEach(([id], k) => {
      values[id] = inputs[k].valueAsNumber;
      values.typed[id] = inputs[k].value;
      inputs[k].parentElement.hidden = !ids.has(id);
    });
    const text = words({ values, ids });
    if (said.textContent !== text) said.textContent = text;
    call.textContent = callOf(values);
  };
  let later = 0;
  form.addEventListener("input", () => {
    clearTimeout(later); // wait until the number is whole
    later = setTimeout(answer, 300);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  answer();
  place.interval = (values) => interval(runOf(values)); // for the tests
})();
