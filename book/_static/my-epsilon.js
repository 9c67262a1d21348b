/* Accountant and form of the page "What is my epsilon?", which proves it. */
function accountant() {
  const { PI, ceil, exp, expm1, log, log1p, max, min, sqrt } = Math;
  const UNIT = 2 ** -53, FAR = 1e130; // ratios beyond it are lost
  const RULE = [[0.2386191860831969, 0.467913934572691], // Gauss-Legendre
    [0.6612093864662645, 0.3607615730481386],
    [0.9324695142031521, 0.1713244923791704]];
  const floats = (n) => new Float64Array(n);

  const mass = (left, right, shift = 0) => { // of N(shift, 1) in a cell
    const m = (left + right) / 2 - shift, h = (right - left) / 2;
    return (h / sqrt(2 * PI)) * RULE.reduce((sum, [s, w]) => sum + w * (
      exp(-((m - h * s) ** 2) / 2) + exp(-((m + h * s) ** 2) / 2)), 0);
  };

  /* Ratios r of P and Q over n steps, ascending, and masses under Q: wrong by
     factors 1 + off and 1 + bad, without a mass of `lost`. From cells with the
     masses q and p: from below these stay whole, from above (up) each is split
     between its edges. Ends with less mass than room are lost. */
  const law = (n, edges, q, p, up, room, lost, off, bad) => {
    const r = up ? edges : p.map((m, k) => m / q[k]), seen = [];
    const mass = up ? floats(r.length) : q;
    if (up) q.forEach((m, k) => {
      const share = (p[k] / m - r[k]) / (r[k + 1] - r[k]);
      const part = m && r[k] !== r[k + 1] ? m * min(max(share, 0), 1) : 0;
      mass[k] += m - part;
      mass[k + 1] += part;
    });
    const cost = mass.map((m, k) => m && m * max(r[k], 1));
    let [s, t, low, high] = [0, r.length - 1, 0, 0];
    while (s <= t && (low + cost[s] < room || r[s] < 1 / FAR))
      low += cost[s++];
    while (s <= t && (high + cost[t] < room || r[t] > FAR))
      high += cost[t--];
    for (; s <= t; s += 1) if (!(mass[s] <= 1e-290)) seen.push(s);
    const [x, w] = [r, mass].map((v) => Float64Array.from(seen, (k) => v[k]));
    return { n, r: x, q: w, lost: lost + low + high, off, bad, spread: sqrt(
      x.reduce((sum, v, i) => sum + w[i] * max(v, 1) * log(v) ** 2, 1e-30)) };
  };

  /* One step in cells of its outcome: P is (1 - rate) N_0 + rate N_a, Q the
     same with b. */
  const step = (rate, a, b, from, to, size, lost, up) => {
    const cells = max(size, ceil((to - from) ** 2)); // narrow enough
    const z = floats(cells + 1).map((_, i) => from + (to - from) * i / cells);
    const at = (shift, x) => 1 - rate + rate * exp(shift * (x - shift / 2));
    const [p, q] = [a, b].map((shift) => floats(cells).map((_, i) => (1 - rate)
      * mass(z[i], z[i + 1]) + rate * mass(z[i], z[i + 1], shift)));
    const off = UNIT * (64 + 12 * (to - from) ** 2);
    return law(1, z.map((x) => at(a, x) / at(b, x)), q, p, up, 0, lost, off,
      off + 6000 * UNIT);
  };

  /* All products (or means) of two ratios, in cells between `size` places. */
  const join = (one, two, size, room, up, mean) => {
    const { r: x, q: v } = one, { r: y, q: w } = two, n = one.n + two.n;
    const [a, b, c] = mean ? [one.n / n, two.n / n, 0] : [0, 0, 1];
    const scale = 2 * Math.hypot((a + c) * one.spread, (b + c) * two.spread);
    const ends = [0, 1].map((end) => [x, y].map((v) => v.at(-end))).map(
      ([s, t]) => a * s + (b + c * s) * t);
    const [from, to] = ends.map((r) => Math.asinh(log(r) / scale));
    const g = floats(size).map((_, k) => exp(scale * Math.sinh(
      from + ((to - from) * k) / (size - 1))));
    [g[0], g[size - 1]] = ends;
    const [q, p, adds] = [0, 0, 0].map(() => floats(size - 1));
    for (let i = 0, first = 0; i < x.length; i += 1) {
      const start = one === two ? i : 0, at = a * x[i], slope = b + c * x[i];
      for (let j = start, k = first, m = v[i]; j < y.length; j += 1) {
        const r = at + slope * y[j];
        while (k < size - 2 && g[k + 1] <= r) k += 1;
        q[k] += m * w[j];
        p[k] += m * w[j] * r;
        adds[k] += 1;
        if (j === start) first = k;
        if (j === start && one === two) m *= 2; // also j and i
      }
    }
    const wrong = UNIT * (32 + 2 * adds.reduce((s, t) => max(s, t)));
    return law(n, g, q, p, up, n * room, one.lost + two.lost,
      one.off + two.off + wrong, one.bad + two.bad + wrong);
  };
  const power = (one, n, ...how) => [...n.toString(2).slice(1)].reduce(
    (sum, digit) => { // n steps, by doubling
      const two = join(sum, sum, ...how);
      return +digit ? join(two, one, ...how) : two;
    }, one);

  /* The largest output of a shuffled epoch of n steps, all others being -1:
     moved by 2 mu in one step, or by mu if the record is zeroed out. */
  const largest = (mu, n, cells = 1000) => () => {
    const [q, p, above] = [0, 0, 0].map(() => floats(cells + 1));
    const z = (i) => ((29 + 4 * mu) * i) / cells - 20, below = [0, 0, 0];
    const cell = (i, shift) => mass(z(i), z(i + 1), shift);
    for (let i = cells; i--;) above[i] = above[i + 1] + cell(i, 0);
    for (let i = 0; i < cells; i += 1) {
      const c = [0, mu, 2 * mu].map((shift) => cell(i, shift));
      const more = above[i + 1];
      const all = more < 0.5 ? log1p(-more) : log(below[0] + c[0]);
      const rise = -expm1((n - 1) * log1p(-c[0] / exp(all)));
      const [s, t] = [1, 2].map(
        (k) => (c[k] + below[k] * rise) * exp((n - 1) * all));
      c.forEach((x, k) => { below[k] += x; });
      if (s > 1e-260 && t > 1e-260) [q[i], p[i]] = [s, t];
    }
    return law(1, 0, q, p, false, 0, 0, 4e-9, 4e-9);
  };

  /* Laws that bound a run from above (true) and from below (false). */
  const laws = ({ sampler, adjacency, noise, rate, steps, epochs, slots, delta,
    uneven }, size) => {
    const mu = 1 / noise, swap = adjacency === "substitute";
    const zero = adjacency === "zero-out", moved = zero ? mu : 2 * mu;
    const rest = delta / (slots ? slots * epochs : steps);
    const reach = sqrt(-2 * log(2e-5 * rest)), lost = 4e-5 * rest;
    const one = (r, a, b = 0) => (up) => step(
      r, a, b, min(b, 0) - reach, reach + a, size, lost, up);
    const epoch = (shift) => (up) => power(
      one(1, shift)(up), slots, size, 1e-6 * rest, up, true);
    const splice = (...pairs) => () => { // see Spliced
      const [one, two] = pairs.map(([a, b]) => step(rate, a, b, (a + b) / 2,
        reach + a, size, lost, true));
      const moment = ({ q, r }) => q.map((m, i) => m * r[i]);
      const q = [...moment(two).reverse(), 0, ...one.q];
      const p = [...two.q.reverse(), 0, ...moment(one)];
      const atom = 8 * one.off + max(0, ...[p, q].map(
        (v) => 1 - v.reduce((sum, m) => sum + m)));
      q[two.q.length] = p[two.q.length] = atom;
      return law(1, 0, q, p, false, 0, one.lost + two.lost, one.off, one.bad);
    };
    const whole = (make, count, ...sides) => sides.map(
      (up) => [up, power(make(up), count, size, 1e-6 * rest, up)]);
    if (sampler === "poisson")
      return whole(one(rate, mu, swap ? -mu : 0), steps, true, false);
    if (sampler === "allocation") return whole(epoch(mu), epochs, true, false);
    if (sampler === "shuffled") return [
      ...whole(one(1, moved), epochs, true), ...(uneven ? [] : whole(
        swap ? epoch(moved) : largest(mu, slots), epochs, false))];
    if (!swap && !zero) return whole(one(rate, moved), steps, true, false);
    return [...whole(splice([2 * mu, zero ? mu : 0], [moved, 0]), steps, true),
      ...whole(one(rate, moved), steps, false),
      ...(zero ? whole(one(rate, 2 * mu, mu), steps, false) : [])];
  };

  /* The end that a law proves: an epsilon that holds, or one that does not. */
  const end = (delta, [up, { r, q, off, bad, lost }]) => max(
    ...[1, -1].map((way) => {
      const at = (epsilon, e = exp(epsilon)) => r.reduce((sum, x, i) => sum
        + q[i] * max(way > 0 ? x - e : 1 - e * x, 0), 0);
      const s = off * (1 + off), f = (1 + bad) * (1 + off) - 1;
      const beyond = (x) => (up ? !((1 + f) * at(x - s) + lost <= delta)
        : (1 - f) * at(x + s) > delta);
      let [a, b] = [0, beyond(0) ? 512 : 0];
      for (let k = 0; k < 50; k += 1) {
        const middle = (a + b) / 2;
        [a, b] = beyond(middle) ? [middle, b] : [a, middle];
      }
      return up && b === 512 ? Infinity : up ? b : a;
    }));
  const ends = (all, delta) => [false, true].map((up) => max(0, ...all.filter(
    (one) => one[0] === up).map((one) => end(delta, one))));

  const certified = (question, target, size = 300) => {
    const all = laws(question, size), [low, high] = ends(all, question.delta);
    const wide = (high - low) / (high + 1e-6); // or not a number
    return size > 300 || wide < 1e-3 || low > target || high <= target
      ? [low, high, all] : certified(question, target, ceil(300
        * min(max(sqrt(1.5e3 * wide) || 5, 1.5), wide > 0.15 ? 2 : 6)));
  };

  return (question) => { // noise, both ends, both at deltas from 0.1 on
    let [low, high] = [0.1999, question.noise || 1001]; // least for a target
    for (const { target } = question; target;) {
      const noise = +sqrt(low * high).toPrecision(4);
      if (noise <= low || noise >= high) break;
      if (certified({ ...question, noise }, target)[1] <= target) high = noise;
      else low = noise;
    }
    const [least, most, all] = certified({ ...question, noise: high });
    return [high, least, most, Array.from({ length: 10 }, (_, k) => ends(
      all, 0.1 * (10 * question.delta) ** (k / 9)))];
  };
}

(() => {
  const id = (name) => document.getElementById(`my-${name}`);
  const form = id("form"), cells = [...id("table").querySelectorAll("td")];
  const url = URL.createObjectURL(new Blob([`const answer = ${accountant}();
    onmessage = ({ data: [k, x] }) => postMessage([k, answer(x)]);`]));
  let worker = null, later = 0;
  const fill = (facts) => {
    for (const node of document.querySelectorAll("[data-fill]"))
      node.textContent = facts[node.dataset.fill] ?? "";
    id("result").style.visibility = facts.call ? "" : "hidden"; // none to copy
  };
  const rounded = (x, way = Math.ceil) => { // to four digits
    const unit = 10 ** (Math.floor(Math.log10(x)) - 3);
    return x > 0 && x < Infinity ? +(way(x / unit) * unit).toPrecision(4) : x;
  };
  const interval = (low, high) => (low > 0 ? `${rounded(low, Math.floor)} to ${
    rounded(high)}` : `at most ${rounded(high)}`);
  const cell = (x) => id(`${x.sampler}-${x.adjacency}`).dataset;

  const asked = (x) => { // as the accountant needs it
    const share = x.rate ?? `${x.batch}/${x.records}`;
    const rate = x.rate ?? x.batch / x.records, all = x.records / x.batch;
    const [floor, ceil] = [Math.floor(all), Math.ceil(all)];
    const steps = x.steps ?? Math.ceil(x.epochs * ceil * (1 - 1e-12));
    const slots = { shuffled: ceil, allocation: floor }[x.sampler] ?? 0;
    const uneven = floor < ceil, epochs = x.epochs ?? steps / slots;
    return { ...x, share, rate, steps, slots, epochs, uneven };
  };
  const why = (x) => [ // a question has no answer here
    [x.steps > 1e7 || x.rate < 1e-8, "Limits: 1e7 steps, rate 1e-8 or more."],
    [x.delta * x.records >= 1, "Delta must be far below 1 / records."],
    [x.by === "rate" && x.sampler !== "poisson",
      "Only Poisson samples have a rate: take records and batch as given."],
    [x.sampler === "fixed" && x.rate === 1 && x.adjacency === "add-or-remove",
      "With one record less, a batch of all records could not be filled."],
    [x.slots && x.epochs % 1, "Whole epochs are counted here: round up."],
    [true, cell(x).why]].find(([is]) => is)[1];

  const read = () => { // the question, or what to say instead
    const shown = ["", form.ask.value, form.by.value], x = {};
    for (const box of form.querySelectorAll("[data-if]"))
      box.disabled = box.parentNode.hidden = !box.dataset.if.split(" ").some(
        (name) => shown.includes(name));
    form.batch.dataset.most = form.records.value;
    for (const box of form.querySelectorAll("[name]:enabled")) {
      const { least, most, kind } = box.dataset, value = +box.value;
      x[box.name] = least ? value : box.value;
      if (!(least ? value >= +least && value <= +most : box.value)
        || (kind && value % 1)) return { said: `${box.title}: ${
        box.validationMessage || `${box.value || "this"} is no ${kind
        }number from ${least} to ${most}, written like 60000 or 1e-5.`}` };
    }
    return { ...x, said: why(asked(x)) };
  };
  const show = (x, [noise, low, high, curve]) => {
    if (noise > 1000) return fill({ said: "Noise 1000 is not proven enough." });
    const most = Math.max(0, ...curve.flat().filter(Number.isFinite));
    const facts = { ...x, noise, delta: form.delta.value,
      high: rounded(high), most: rounded(most) };
    for (const key of ["sampler", "adjacency"])
      facts[`the_${key}`] = form[key].selectedOptions[0].dataset.said;
    const told = (text) => text.replace(/{(\w+)}/g, (_, key) => facts[key]);
    for (const key of ["call", "drawn"]) facts[key] = told(cell(x)[key]);
    facts.said = told("With noise multiplier {noise} and {drawn}, epsilon is "
      + `${interval(low, high)} at delta = {delta}, if one record is `
      + "{the_adjacency}.");
    [0, 1].forEach((end) => id(`end-${end}`).setAttribute("points", curve.map(
      (ends, k) => [50 + (330 * ends[end]) / most, 10 + 20 * k]).filter(
      ([place]) => place > 50 && place < 381).join(" ")));
    return fill(facts) || noise;
  };
  const stop = () => { // no old answer beside a new question
    worker?.terminate();
    cells.forEach((one) => { one.textContent = "–"; });
    fill({ said: "Computing …" });
  };
  const start = () => {
    const { said, ...question } = read();
    history.replaceState(0, "", `#${new URLSearchParams(new FormData(form))}`);
    const compare = (noise) => noise && cells.forEach((one, i) => {
      const [sampler, adjacency] = one.dataset.ask.split(" ");
      const x = asked({ ...question, sampler, adjacency, noise });
      one.textContent = why(x) ? one.dataset.mark : "…";
      if (!why(x)) worker.postMessage([i, { ...x, target: NaN }]);
    });
    worker = new Worker(url);
    worker.onmessage = ({ data: [k, found] }) => {
      if (k >= 0) cells[k].textContent = interval(found[1], found[2]);
      else compare(show(asked(question), found));
    };
    if (!said) return worker.postMessage([-1, asked(question)]);
    return compare(fill({ said }) || question.noise);
  };
  const load = (text) => {
    stop();
    for (const [key, value] of new URLSearchParams(text))
      if (form.elements[key]?.name === key) form.elements[key].value = value;
    start();
  };
  form.addEventListener("input", ({ target }) => {
    clearTimeout(later); // wait until the number is whole
    stop();
    for (const box of [id("preset"), id("opacus")])
      if (box !== target) box.value = ""; // it would not be what is answered
    const one = /^\s*\[\(([^,]+),([^,]+),([^,)]+)\)\]\s*$/.exec(target.value);
    if (target.id === "my-preset") load(target.value);
    else if (target.id !== "my-opacus" || !target.value)
      later = setTimeout(start, 300);
    else if (one) load(`ask=epsilon&by=rate&noise=${+one[1]}&rate=${+one[2]}&`
      + `steps=${+one[3]}&adjacency=${
        form.adjacency.value.replace(/add.*/, "zero-out")}`);
    else fill({ said: target.title });
  });
  window.onhashchange = () => /=/.test(location.hash)
    && load(location.hash.slice(1));
  window.onhashchange();
})();
