// ASKED: the glossary's table of what people ask for. With all words of an
// entry in a question its place comes first, with some before other text.
const SAME = { ε: "epsilon", eps: "epsilon", δ: "delta", μ: "mu", σ: "sigma" };
const stemmer = new Stemmer();
const words = (text) => (text.toLowerCase().match(/\p{L}+|\p{N}+(\.\p{N}+)?/gu)
  || []).filter((word) => !stopwords.has(word))
  .map((word) => stemmer.stemWord(SAME[word] || word));
const { docnames, titles, indexentries } = Search._index;
const terms = Object.entries(indexentries)
  .filter(([term, [[, id]]]) => words(term).length > 1 && /^term-/.test(id))
  .map(([term, [[file, id]]]) => [docnames[file], term, `#${id}`, []]);
const places = [...ASKED, ...terms].map(([page, title, anchor, entries]) => {
  const whole = titles[docnames.indexOf(page)];
  const text = title === whole ? title : `${whole} > ${title}`;
  const each = [...entries, title].map(words).filter((entry) => entry.length);
  return { item: [page, text, anchor, null, 0, page, "title"], each };
});
// A word that is in many entries says little.
const weigh = (found) => [...new Set(found)].reduce((sum, word) => sum + 1 /
  places.filter(({ each }) => each.flat().includes(word)).length, 0);
const library = Search._performSearch;
Search._performSearch = (query, ...parsed) => {
  const parts = query.replace(/(\p{Ll})(\p{Lu})/gu, "$1 $2");  // CamelCase
  const asked = new Set(words(`${query} ${parts}`)), lists = [[], [], []];
  for (const { item, each } of places) {
    const all = each.filter((entry) => entry.every((x) => asked.has(x)));
    const some = new Set(each.flat().filter((x) => asked.has(x)));
    const is = all.some((entry) => entry.length > 1 || weigh(entry) > 0.2);
    const list = lists[is ? 0 : some.size > asked.size / 3 ? 1 : 2];
    if (some.size) list.push([weigh(all.flat()) + weigh(some) / 4, item]);
  }
  const [above, below, last] = lists.map((list) => list
    .sort((a, b) => b[0] - a[0]).slice(0, 3).map(([, item]) => item));
  const found = library(query, ...parsed).reverse();  // the best came last
  const named = found.filter((item) => item[6] !== "text"
    || (item[4] > Scorer.term && asked.size < 3));  // short: a title
  const shown = [...above, ...named, ...below, ...found, ...last];
  const seen = new Set(), key = ([page, , anchor]) => page + anchor;
  return shown.filter((x) => !seen.has(key(x)) && seen.add(key(x))).reverse();
};
