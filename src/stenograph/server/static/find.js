// Find in a run: all hits of the run come from the server; the one that is meant is shown where it stands.
import { main, reveal, run, say } from './page.js';

const form = document.querySelector('form.find');
const box = form && form.elements.q;
const output = document.getElementById('hits');
const marks = window.CSS && CSS.highlights && window.Highlight;
let seqs = [], words = '', at = -1;

const ranges = (within, sought) => {
  const found = [], walker = document.createTreeWalker(within, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, small = node.data.toLowerCase();
    const text = small.length === node.length ? small : node.data; // some letters grow when they become small
    for (let i = text.indexOf(sought); i >= 0; i = text.indexOf(sought, i + sought.length)) {
      const range = document.createRange();
      range.setStart(node, i);
      range.setEnd(node, Math.min(node.length, i + sought.length));
      found.push(range);
    }
  }
  return found;
};

const terms = () => words.toLowerCase().match(/[\p{L}\p{N}_]+/gu) || [];

// The first hit inside an element, in the middle of the window: by the hit's own rectangle, not by its element's.
const show = (element) => {
  const hits = terms().flatMap((term) => ranges(element, term));
  if (marks) CSS.highlights.set('found', new Highlight(...terms().flatMap((term) => ranges(main, term))));
  reveal(element);
  if (!hits.length) { element.scrollIntoView({ block: 'center', behavior: 'instant' }); return; }
  const hit = hits[0];
  reveal(hit.startContainer.parentElement);
  if (marks) CSS.highlights.set('current', new Highlight(hit));
  const box = hit.getBoundingClientRect();
  scrollBy({ top: box.top - innerHeight / 2, behavior: 'instant' });
};

const go = (seq) => {
  const element = document.getElementById(`seq-${seq}`);
  if (output) output.textContent = `${at + 1} of ${seqs.length}`;
  if (element) show(element);
  else location.assign(`/runs/${run}/at/${seq}?q=${encodeURIComponent(words)}`);
};

export const step = (by) => {
  if (!seqs.length) { if (words) say('not found'); return; }
  at = (at + by + seqs.length) % seqs.length;
  go(seqs[at]);
};

// Where the hits are, on the strip that shows the whole run.
const strip = document.querySelector('.switches .strip');
const drawHits = () => {
  if (!strip) return;
  for (const each of strip.querySelectorAll('.hit')) each.remove();
  const last = Number(strip.dataset.last);
  for (const place of new Set(seqs.map((seq) => Math.round(((seq - 1) / last) * 400)))) {
    const rect = document.createElementNS('http://www.w3.org/2000/svg', 'rect');
    for (const [name, value] of [['class', 'hit'], ['x', place * 2.5], ['y', 0], ['width', 2], ['height', 16]]) rect.setAttribute(name, value);
    strip.append(rect);
  }
};

const look = async (sought, seq) => {
  words = sought;
  const answer = await fetch(`/api/v1/runs/${run}/find?q=${encodeURIComponent(sought)}`);
  const document = await answer.json();
  seqs = document.seqs || [];
  if (document.error) say(document.error);
  drawHits();
  if (output) output.textContent = seqs.length ? `${seqs.length} hits` : 'not found';
  at = seq ? seqs.indexOf(seq) - 1 : -1;
  if (seqs.length) step(1);
};

export const focus = () => {
  const field = box || document.querySelector('input[type=search]');
  if (field) { field.focus(); field.select(); }
};

if (box && main) {
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    if (!box.value.trim()) return;
    if (box.value === words) step(1); else look(box.value, 0);
  });
  const given = new URLSearchParams(location.search).get('q');
  if (given) {
    box.value = given;
    look(given, Number(location.hash.replace('#seq-', '')) || 0);
  }
}
