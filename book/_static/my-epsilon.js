/* The accountant and the form of the page "What is my epsilon?", which proves
   it. Names are those of accountlib/short/accountant.py. It sends nothing. */
"use strict";

function accountant() {
  const { PI, abs, atan2, cos, exp, expm1, hypot, log, log1p, max, min, sin,
    sqrt } = Math;
  const UNIT = 2 ** -53, TOP = 60; // unit round-off; largest loss of a place
  const ORDERS = Array.from({ length: 408 }, (_, k) => 1e-6 * 1.5 ** (k / 4));
  const RULE = [ // Gauss-Legendre: places and weights, on both sides
    [0.1834346424956498, 0.362683783378362], [0.525532409916329,
      0.3137066458778873], [0.7966664774136267, 0.2223810344533745],
    [0.9602898564975363, 0.1012285362903763]];
  const floats = (n) => new Float64Array(n);
  const array = (v) => Float64Array.from(v);
  const most = (v) => v.reduce((a, b) => max(a, abs(b)), 0);

  const logMass = (left, right, shift) => { // of N(shift, 1), from its middle
    const m = (left + right) / 2 - shift, h = (right - left) / 2;
    const sum = RULE.reduce((all, [s, w]) => all + w * exp(-((s * h) ** 2) / 2)
      * (exp(-m * s * h) + exp(m * s * h)), 0);
    return log(h * sum) - (m * m) / 2 - log(2 * PI) / 2;
  };

  /* One step: losses x, and logs m of their masses, between two outcomes. P is
     (1 - rate) N_0 + rate N_a, Q the same with b; way -1 exchanges them. */
  const table = (rate, a, b, from, to, number, way, up) => {
    const side = up ? 1 : -1, x = [], m = [];
    const wrong = UNIT * (64 + 6 * (max(-from, to) + a + abs(b)) ** 2);
    const sampled = (t) => { // log(1 - rate + rate e^t), and its error
      const c = log(rate) + t, d = log1p(-rate);
      const y = max(c, d) + log1p(exp(-abs(c - d)));
      return [y, 4 * wrong * rate * exp(t - y) + 40 * UNIT * abs(y)];
    };
    const loss = (t, u) => {
      const [y, e] = sampled(t), [z, f] = b ? sampled(u) : [0, 0];
      return [y - z, e + f, z, f];
    };
    const edge = (i) => from + ((to - from) * i) / number;
    const at = (z) => loss(a * (z - a / 2), b * (z - b / 2));
    for (let i = 0, right = at(from); i < number; i += 1) {
      const [z, y, left] = [edge(i), edge(i + 1), right], l = logMass(z, y, 0);
      const mid = loss(logMass(z, y, a) - l, b && logMass(z, y, b) - l);
      const put = ([r, wide], share) => {
        const moved = r + way * side * wide;
        x.push(way * moved);
        m.push(l + mid[2] + side * (3 * wrong + mid[3])
          + (way > 0 ? moved : 0) + log(share + 1e-300));
      };
      right = at(y);
      const off = 4 * way * (mid[1] + left[1] + right[1]);
      const r = (expm1(mid[0] - left[0]) + off) / expm1(right[0] - left[0]);
      if (up) put(left, 1 - min(max(r, 0), 1)); // a share goes to each end
      put(up ? right : mid, up ? min(max(r, 0), 1) : 1);
    }
    return { x: array(x), m: array(m), lost: 0 };
  };

  const logSum = (v) => {
    const top = v.reduce((a, b) => max(a, b), -Infinity);
    return top + log(v.reduce((sum, a) => sum + exp(a - top), 0));
  };

  const logChernoff = ({ x, m }, steps, order) => { // of delta(0)
    const size = order * most(x) + most(m) + x.length;
    const moment = logSum(x.map((a, i) => order * a + m[i]));
    return steps * (moment + 20 * UNIT * size)
      - log1p(order) - order * log1p(1 / order);
  };

  const choose = (over, room) => { // tilt, period, variance, last frequency
    const need = over.map((o) => max(o - log(0.01 * room), 1));
    let [t, period, cost] = [4, Infinity, Infinity];
    for (let i = 4; i < over.length - 4; i += 1) {
      const p = max(3 * need[i - 4], 2 * need[i + 4]) / ORDERS[i];
      const c = log(p) + max(over[i] - 13, 0);
      if (c < cost) [t, period, cost] = [i, p, c];
    }
    const best = ORDERS[over.indexOf(min(...over))];
    const far = 2 * (over[t] + 14 - log(room)), b = 4 * best * (best + 1);
    const v = max(room / (1 + b), far * (period / 2 ** 14) ** 2);
    return [ORDERS[t], period, v, (sqrt(far / v) * period) / (2 * PI) + 4];
  };

  /* A bound of delta at any epsilon, from above or from below. */
  const spectrum = (list, steps, [tilt, period, v, last], up) => {
    const { x, m } = list, side = up ? 1 : -1, size = x.length;
    const logs = x.map((a, i) => tilt * a + m[i]), all = logSum(logs);
    const center = x.reduce((sum, a, i) => sum + a * exp(logs[i] - all), 0);
    const y = x.map((a) => a - center);
    const k = logSum(y.map((a, i) => tilt * a + m[i]));
    const p = y.map((a, i) => exp(tilt * a + m[i] - k + side * 10 * UNIT
      * (abs(tilt * a) + abs(m[i]) + abs(k) + 8)));
    let [sum, rest] = [0, 0]; // of p, with twice the digits
    for (const a of p) {
      rest += sum >= a ? sum - (sum + a) + a : a - (sum + a) + sum;
      sum += a;
    }
    const spread = p.reduce((all, a, i) => all + a * abs(y[i]), 0);
    const h = (2 * PI) / period, n = Math.floor(sqrt(last)) + 1, J = n * n;
    const [ar, ai, br, bi] = [0, 0, 0, 0].map(() => floats(n * size));
    for (let j = 0, i = 0; j < n; j += 1)
      for (let l = 0; l < size; l += 1, i += 1) {
        const angle = j * h * y[l];
        ar[i] = -2 * sin(angle / 2) ** 2;
        ai[i] = sin(angle);
        br[i] = -2 * p[l] * sin((n * angle) / 2) ** 2;
        bi[i] = p[l] * sin(n * angle);
      }
    const kappa = up ? 0 : v * exp(v / 8) * (1 + 32 * UNIT);
    const [weight, phase] = [floats(J), floats(J)];
    let [still, turned, first] = [0, 0, 0];
    for (let j = 0; j < J; j += 1) {
      const a = (j % n) * size, b = Math.floor(j / n) * size, theta = h * j;
      let re = 0, im = 0;
      for (let l = 0; l < size; l += 1) { // e^(i(a+b)) - 1 = A + B + AB
        const c = br[b + l], d = bi[b + l], e = ar[a + l], f = ai[a + l];
        re += c + (c + p[l]) * e - d * f;
        im += d + (c + p[l]) * f + d * e;
      }
      re += sum + rest;
      const one = hypot(re, im), turn = steps * atan2(im, re);
      const off = 8 * UNIT * ((size + 64) * theta * spread + 1);
      const error = steps * off * (one + off) ** (steps - 1) + 1e-290;
      const value = exp(steps * log(one));
      const zr = tilt * (tilt + 1) - theta ** 2, zi = theta * (2 * tilt + 1);
      const z = hypot(zr, zi), f = ((j ? 2 : 1) / period) * exp((v * zr) / 2);
      const ur = zr / z / z - kappa, ui = -zi / z / z;
      const digits = J + 200 + 16 * (v * z + abs(turn));
      const sizes = f * (1 / z + kappa); // weights, and what they can be wrong
      still += sizes * (error + UNIT * digits * value);
      turned += sizes * 16 * UNIT * theta * value;
      first ||= value + error;
      if (j === J - 1) still += (1.1 * sizes * first) / (v * theta * h);
      weight[j] = f * hypot(ur, ui) * value;
      phase[j] = turn + (v * zi) / 2 + atan2(ui, ur);
    }
    const near = up ? [tilt] : [(tilt * 2) / 3, (tilt * 3) / 2];
    const chernoff = near.map((order) => logChernoff(list, steps, order));
    return (at) => {
      const y = steps * center - at + side * 1e-15 * (steps * abs(center) + at);
      const total = weight.reduce(
        (sum, w, j) => sum + w * cos(h * j * y + phase[j]),
        side * (still + turned * abs(y)));
      const grown = 10 * UNIT * (abs(tilt * y) + steps * (abs(k) + 1) + 60);
      const found = exp(steps * k + tilt * y + side * grown) * total;
      if (up) {
        const top = 1.01 * exp(chernoff[0] - tilt * at * (1 - 8 * UNIT));
        return min(total > 0 ? found : 1, top) + 1e-300;
      }
      return near.reduce((low, order, i) => low - 2 * exp(chernoff[i] - order
        * at - abs(order - tilt) * period * (1 - 8 * UNIT)), max(found, 0));
    };
  };

  /* The mean of two laws of ratios under Q, of one.n and of two.n steps: on
     places with the same mean if `up`, merged if not. */
  const join = (one, two, last, up) => {
    const n = one.n + two.n;
    const spread = hypot(one.n * one.spread, two.n * two.spread) / n;
    const g = Array.from({ length: last + 1 }, (_, k) => k && exp(spread
      * Math.sinh(Math.asinh(TOP / spread) * (k / (last / 2) - 1))));
    const [q, p] = [floats(last + 1), floats(last + 1)];
    let lost = (one.n * one.lost + two.n * two.lost) / n;
    for (let i = 0; i < one.r.length; i += 1)
      for (let j = 0, k = 0; j < two.r.length; j += 1) {
        const r = (one.n * one.r[i] + two.n * two.r[j]) / n;
        const mass = one.q[i] * two.q[j];
        while (k < last && g[k + 1] <= r) k += 1;
        const share = up && k < last ? (r - g[k]) / (g[k + 1] - g[k]) : 0;
        q[k] += mass * (1 - share);
        p[k] += mass * r;
        if (share) q[k + 1] += mass * share;
        if (up && k === last) lost += mass * (r - g[k]);
      }
    const seen = g.map((_, i) => i).filter(
      (i) => q[i] > (up ? 0 : 1e-290));
    const r = seen.map((i) => (up ? g[i] : p[i] / q[i]));
    return { n, spread, lost, r, q: seen.map((i) => q[i]) };
  };

  /* An epoch in which each record is in one of n steps, drawn at random. */
  const epoch = (mu, n, made = {}) => (way) => (number, reach, up) => {
    const make = (last) => {
      const { x, m } = table(1, mu, 0, -reach, reach + mu, number, -1, up);
      const one = join({ n: 1, spread: mu, lost: 0, r: x.map((a) => exp(-a)),
        q: m.map((a) => exp(a)) },
      { n: 0, spread: 0, lost: 0, r: [0], q: [1] }, last, up);
      return [...n.toString(2).slice(1)].reduce((sum, digit) => {
        const two = join(sum, sum, last, up);
        return digit === "1" ? join(two, one, last, up) : two;
      }, one);
    };
    const law = made[[number, up]] ??= make(500 + number / 2);
    const wrong = (up ? 1 : -1) * 3e-10 * (n + 64), zero = law.r[0] === 0;
    const r = law.r.slice(zero ? 1 : 0), q = law.q.slice(zero ? 1 : 0);
    return { lost: way > 0 ? law.lost : zero && law.q[0],
      x: array(r.map((a) => way * log(a) + wrong)),
      m: array(q.map((a, i) => log(
        max(a * (way > 0 ? r[i] : 1), 1e-300)) + wrong)) };
  };

  /* The largest output of a shuffled epoch of n steps, all others being -1:
     moved by 2 mu in one step, or by mu if the record is zeroed out. */
  const largest = (mu, n) => (way) => (number) => {
    const x = [], m = [], z = (i) => ((29 + 4 * mu) * i) / number - 20;
    const cells = [0, mu, 2 * mu].map((shift) => Array.from({ length: number },
      (_, i) => exp(logMass(z(i), z(i + 1), shift))));
    const above = floats(number + 1), below = [0, 0, 0];
    for (let i = number; i--;) above[i] = above[i + 1] + cells[0][i];
    for (let i = 0; i < number; i += 1) {
      const c = cells.map((cell) => cell[i]), right = above[i + 1];
      const all = right < 0.5 ? log1p(-right) : log(below[0] + c[0]);
      const rise = -expm1((n - 1) * log1p(-c[0] / exp(all)));
      const [q, p] = [1, 2].map(
        (k) => log(c[k] + below[k] * rise) + (n - 1) * all);
      if (p > -600 && q > -600) x.push(way * (p - q) - 4e-9);
      if (p > -600 && q > -600) m.push((way > 0 ? p : q) - 2e-9);
      for (const k of [0, 1, 2]) below[k] += c[k];
    }
    return { x: array(x), m: array(m), lost: 0 };
  };

  /* What bounds a run from above (true), from below (false), or both. */
  const plan = (question) => {
    const { sampler, adjacency, noise, rate, steps, epochs, slots, uneven }
      = question;
    const mu = 1 / noise, swap = adjacency === "substitute";
    const zero = adjacency === "zero-out", moved = zero ? mu : 2 * mu;
    const step = (r, a, b = 0) => (way) => (number, reach, up) => table(
      r, a, b, min(b, 0) - reach, reach + a, number, way, up);
    const splice = (one, two) => () => (number, reach) => { // see Spliced
      const parts = [one, two].map(([a, b], k) => table(rate, a, b, (a + b) / 2,
        reach + a, number, 1 - 2 * k, true));
      const m = parts.flatMap((part) => [...part.m]);
      const rest = m.reduce((sum, a) => sum - exp(a), 1);
      const x = parts.flatMap((part) => [...part.x]);
      return { x: array([...x, 0]), m: array([...m, log(max(rest, 0) + 1e-10)]),
        lost: 0 };
    };
    const run = (make, count, sides, ways = [1, -1]) => ways.map(
      (way) => ({ make: make(way), count, sides }));
    const both = [true, false], far = [2 * mu, zero ? mu : 0];
    if (sampler === "poisson") return swap
      ? run(step(rate, mu, -mu), steps, both, [1])
      : run(step(rate, mu), steps, both);
    if (sampler === "allocation") return run(epoch(mu, slots), epochs, both);
    if (sampler === "shuffled") return [
      ...run(step(1, moved), epochs, [true], [1]), ...(uneven ? [] : run(
        swap ? epoch(moved, slots) : largest(mu, slots), epochs, [false]))];
    if (!swap && !zero) return run(step(rate, moved), steps, both);
    return [...run(splice(far, [moved, 0]), steps, [true], [1]),
      ...(zero ? [...run(splice([mu, 0], far), steps, [true], [1]),
        ...run(step(rate, ...far), steps, [false])] : []),
      ...run(step(rate, moved), steps, [false])];
  };

  const ends = ({ delta, target = NaN, ...question }) => {
    const runs = plan(question).map((run) => ({ ...run, low: 0,
      high: run.sides[0] ? Infinity : 0 }));
    let [low, high] = [0, Infinity];
    const gap = question.slots || runs.some((run) => run.sides.length < 2);
    for (const effort of gap ? [1.2, 2.4] : [1.2, 2.4, 4]) { // see 3e-10
      for (const run of runs) for (const up of run.sides) {
        if (run.sides[0] ? run.high <= low : effort > 2 && run.low < 0.9 * low)
          continue;
        const steps = run.count, all = steps * (question.slots || 1);
        const reach = sqrt(-2 * log((2e-5 * delta) / all));
        const list = run.make(700 * effort, reach, up);
        const rough = run.over || run.make(200, reach, up); // for choices
        run.over ??= ORDERS.map((o) => logChernoff(rough, steps, o));
        run.guess ??= max(min(...run.over.map(
          (o, i) => (o - log(delta)) / ORDERS[i])), 1e-9);
        const over = run.over.map((o, i) => o - ORDERS[i] * run.guess);
        const least = min(...over), best = ORDERS[over.indexOf(least)];
        const room = min(max(1e-3 * best * run.guess, 1e-5), 0.5);
        const bound = spectrum(list, steps, choose(
          over.map((o) => o + 2 - least), room / effort ** 3), up);
        const left = up ? delta * (1 - 2.1e-5) - steps * list.lost : delta;
        const beyond = (at) => !(bound(at) <= left) && (up || bound(at) > left);
        let [a, b] = [run.guess, run.guess];
        if (up) while (beyond(b) && b < 15 * run.guess) b *= 1.5;
        for (let k = 1e-5; a > 0 && !beyond(a); k *= 1.15)
          [a, b] = [run.guess * max(1 - k, 0), a];
        for (let k = 0; k < 20; k += 1) {
          const middle = (a + b) / 2;
          [a, b] = beyond(middle) ? [middle, b] : [a, middle];
        }
        if (up && !beyond(0)) b = 0;
        if (!up) run.low = max(run.low, a || 0);
        if (!run.sides[0] && a > 0) run.guess = 1.01 * a;
        if (up && !beyond(b)) run.high = run.guess = min(run.high, b);
        low = max(low, run.low);
      }
      high = max(...runs.map((run) => run.high));
      if (high - low <= 1e-3 * high || low > target || high <= target) break;
    }
    return [low, high];
  };

  return (question) => { // noise and ends; the least noise for a target
    let { noise, target } = question, [low, high] = [0.2, noise || Infinity];
    for (noise ||= 1000; target && 1.001 * low < high && low < 1000;) {
      if (ends({ ...question, noise })[1] <= target) high = noise;
      else low = noise;
      noise = sqrt(low * high);
    }
    const unit = 10 ** (Math.floor(Math.log10(high)) - 5); // round up
    if (target && high < Infinity) high = +(Math.ceil(high / unit) * unit)
      .toPrecision(7);
    return [high, ...(high < Infinity
      ? ends({ ...question, noise: high, target: NaN }) : [0, Infinity])];
  };
}

(() => {
  const id = (name) => document.getElementById(`my-${name}`), form = id("form");
  id("epsilon").answer = accountant(); // for the tests
  const url = URL.createObjectURL(new Blob([`const answer = ${accountant}();
    onmessage = ({ data: [k, x] }) => postMessage([k, answer(x)]);`]));
  const cells = [...id("table").querySelectorAll("td")];
  let worker = null, later = 0;
  const fill = (facts) => {
    for (const node of id("epsilon").querySelectorAll("[data-fill]"))
      node.textContent = facts[node.dataset.fill] ?? "";
    id("result").hidden = !facts.call; // nothing to copy
  };
  const rounded = (x, way) => { // to four digits, away from the truth
    const unit = x && 10 ** (Math.floor(Math.log10(x)) - 3);
    const wrong = (x.toPrecision(4) - x) * way < 0;
    return `${+(wrong ? x + way * unit : x).toPrecision(4)}`;
  };
  const interval = (low, high) => (low > 0 && high < Infinity
    ? `${rounded(low, -1)} to ${rounded(high, 1)}` : high < Infinity
      ? `at most ${rounded(high, 1)}` : `at least ${rounded(low, -1)}`);
  const number = (text) => text.split("/").map((x) => (x.trim() ? +x : NaN))
    .reduce((a, b) => a / b); // also a/b
  const slotted = ({ sampler }) => /shuf|alloc/.test(sampler);

  const why = (x) => [ // a question has no answer here
    [x.rate > 1, "A batch cannot have more records than the data set."],
    [x.steps > 1e7, "This form counts at most ten million steps."],
    [x.by === "rate" && x.sampler !== "poisson", "Only Poisson samples have a "
      + "rate: for other samplers give records, batch and epochs."],
    [x.sampler === "fixed" && x.rate === 1 && x.adjacency === "add-or-remove",
      "With one record less, a batch of all records could not be filled."],
    [slotted(x) && x.epochs % 1, "Shuffled epochs and random allocation are "
      + "counted in whole epochs."],
    [true, cells.find(({ dataset: { ask } }) => ask.startsWith(x.sampler)
      && ask.endsWith(x.adjacency)).dataset.why],
  ].find(([is]) => is)[1];

  const read = () => { // the question; or throws a reason
    const x = Object.fromEntries(new FormData(form));
    for (const { dataset, parentNode } of form.querySelectorAll("[data-if]"))
      parentNode.hidden = ![x.ask, x.by].includes(dataset.if);
    for (const box of form.querySelectorAll("div:not([hidden]) > input")) {
      if (!box.name) continue;
      const { least, most, kind } = box.dataset, value = number(box.value);
      if (!(value >= +least && value <= +most) || (kind && value % 1))
        throw `${box.labels[0].textContent}: “${box.value}” is no ${kind}`
          + `number from ${least} to ${most}.`;
      x[box.name] = value;
    }
    if (x.by !== "rate") x.rate = x.batch / x.records;
    if (x.by !== "rate") x.steps = Math.ceil((x.epochs / x.rate) * (1 - 1e-12));
    delete x[x.ask === "epsilon" ? "target" : "noise"];
    if (why(x)) throw why(x);
    return x;
  };
  const asked = (x) => ({ ...x, uneven: x.records % x.batch > 0,
    slots: slotted(x) ? Math.floor(x.records / x.batch) : 0 });

  const start = () => {
    worker?.terminate();
    if (worker) fill({ said: "Computing …" }); // the first answer is printed
    for (const cell of cells) cell.textContent = "…";
    id("profile").setAttribute("points", "");
    let x = {};
    try {
      x = read();
    } catch (reason) {
      for (const cell of cells) cell.textContent = "";
      return fill({ said: reason });
    }
    location.replace(`#${new URLSearchParams(new FormData(form))}`);
    const curve = [], facts = { ...x, ...asked(x), delta: form.delta.value };
    for (const key of ["sampler", "adjacency"])
      facts[key] = form[key].selectedOptions[0].text;
    worker = new Worker(url);
    worker.onmessage = ({ data: [k, [noise, low, high]] }) => {
      if (k >= 10) cells[k - 10].textContent = interval(low, high);
      else if (k >= 0) curve[k] = [low, high];
      if (k === 9) { // both ends against the log of delta
        const most = curve[9][1], at = (end) => curve.map((ends, i) => [
          50 + (330 * ends[end]) / most, 10 + 20 * i]);
        id("profile").setAttribute("points", [...at(1), ...at(0).reverse()]);
        fill({ ...facts, most: rounded(most, 1) });
      }
      if (k >= 0) return;
      Object.assign(facts, { noise, said: noise === Infinity
        ? "No noise multiplier up to 1000 is proven enough." : `${x.target
          ? `With noise multiplier ${noise}, e` : "E"}psilon is ${
          interval(low, high)} at delta = ${facts.delta}, if one record is ${
          facts.adjacency}.` });
      facts.high = high < Infinity ? rounded(high, 1) : "infinity";
      facts.call = `${{ poisson: `Poisson(${x.rate})`, fixed: `${
        x.adjacency === "zero-out" ? "Zeroed" : "Fixed"}Batch(${x.batch}, ${
        x.records})`, shuffled: `ShuffledEpochs(${facts.slots})`,
      allocation: `RandomAllocation(${facts.slots})` }[x.sampler]}, count=${
        facts.slots ? x.epochs : x.steps}`;
      facts.who = x.adjacency;
      fill(facts);
      const y = { ...x, noise, target: undefined };
      if (high < Infinity) for (let i = 0; i < 10; i += 1)
        worker.postMessage([i, asked({ ...y, delta: 10 ** (-1 - i) })]);
      if (noise < Infinity) cells.forEach((cell, i) => {
        const [sampler, adjacency] = cell.dataset.ask.split(" ");
        const z = { ...y, sampler, adjacency };
        if (why(z)) cell.textContent = "–";
        else worker.postMessage([10 + i, asked(z)]);
      });
    };
    return worker.postMessage([-1, asked(x)]);
  };
  const load = (text) => {
    for (const [key, value] of new URLSearchParams(text))
      if (form[key]) form[key].value = value;
    start();
  };
  form.addEventListener("input", ({ target }) => {
    clearTimeout(later); // wait until the number is whole
    const typed = target.value.replace(/[\s[\]]/g, "");
    const one = /^\(([^,()]+),([^,()]+),([^,()]+)\),?$/.exec(typed);
    if (target.id === "my-preset") load(target.value);
    else if (target.id !== "my-opacus") later = setTimeout(start, 300);
    else if (one) load("ask=epsilon&sampler=poisson&by=rate&adjacency="
      + `add-or-remove&noise=${one[1]}&rate=${one[2]}&steps=${one[3]}`);
    else fill({ said: "This form takes one entry (noise, rate, steps); for "
      + "more, al.from_opacus(history) in Python." });
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = false;
  load(location.hash.slice(1));
})();
