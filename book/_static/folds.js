/* Solutions and proofs marked "dropdown" fold; without scripts all is open. */
for (const box of document.querySelectorAll(".admonition.dropdown")) {
  const details = document.createElement("details");
  const summary = document.createElement("summary");
  const [title, ...rest] = box.childNodes.length ? [...box.children] : [];
  title.before(details);
  summary.append(title);
  details.append(summary, ...rest);
  details.open = box.matches(":target, :has(:target)");
}
