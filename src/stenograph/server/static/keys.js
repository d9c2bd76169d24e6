// The keys of the page. None works while the user types, and none changes a transcript.
import { body, copy, here, main, run, say, setDensity, toggleStar, toggleTheme } from './page.js';
import * as find from './find.js';
import { follow } from './live.js';

const EVENTS = '.ev[id],.res[id]';
let current = null, before = '';

const seen = (selector) => [...main.querySelectorAll(selector)].filter((each) => each.getClientRects().length);
const place = () => {
  if (current && current.isConnected) return current;
  return seen(EVENTS).find((each) => each.getBoundingClientRect().bottom > 120) || null;
};
const move = (selector, by) => {
  if (!main) return;
  const all = seen(selector), from = place();
  const ordered = by > 0 ? all : all.reverse();
  const isPast = (each) => {
    if (!from) return true;
    if (!current) return by > 0 ? each.getBoundingClientRect().top > 90 : each.getBoundingClientRect().top < 60;
    const relation = from.compareDocumentPosition(each);
    return relation & (by > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING);
  };
  const next = ordered.find(isPast);
  if (next) { current = next; here(next, 'nearest'); } else say(by > 0 ? 'no more on this page' : 'none before on this page');
};
const seq = () => { const at = place(); return at && at.id.startsWith('seq-') ? at.id.slice(4) : ''; };
// To a page of this run, or beyond its pages to the run beside it in the list.
const link = (relation, beside) => {
  const at = document.querySelector(`a[rel=${relation}]`);
  if (at) location.assign(at.href); else if (beside) location.assign(`/runs/${beside}`);
};
const foldOf = (at) => at && (at.tagName === 'DETAILS' ? at : at.querySelector('details'));
const kindOf = (fold) => {
  const kind = [...fold.classList].find((each) => !['ev', 'tool', 'failed'].includes(each));
  return `details.${kind || 'tool'}`;
};
const foldAll = (selector) => {
  const all = seen(selector), open = all.some((each) => !each.open);
  for (const each of all) each.open = open;
};

const keys = {
  j: () => move(EVENTS, 1),
  k: () => move(EVENTS, -1),
  J: () => move('.unit,.user', 1),
  K: () => move('.unit,.user', -1),
  e: () => move('.ev.failed,.ev.error', 1),
  E: () => move('.ev.failed,.ev.error', -1),
  c: () => move('.tool:is(.edit,.write,:has(.diff))', 1),
  C: () => move('.tool:is(.edit,.write,:has(.diff))', -1),
  u: () => {
    const outer = current && current.parentElement && current.parentElement.closest('.ev[id]');
    const parent = document.querySelector('a[rel=up]');
    if (outer) { current = outer; here(outer); } else location.assign(parent ? parent.href : '/');
  },
  Enter: () => {
    const agent = current && current.querySelector('details.agent');
    if (agent) { agent.open = true; current = agent.querySelector('.ev') || agent; here(current); }
  },
  o: () => { const fold = foldOf(place()); if (fold) fold.open = !fold.open; },
  O: () => { const fold = foldOf(place()); if (fold) foldAll(kindOf(fold)); },
  1: () => setDensity('brief'),
  2: () => setDensity('normal'),
  3: () => setDensity('all'),
  t: () => foldAll('details.think'),
  '/': () => find.focus(),
  n: () => find.step(1),
  N: () => find.step(-1),
  G: () => { current = null; scrollTo({ top: body.scrollHeight, behavior: 'instant' }); follow(); },
  '[': () => link('prev', body.dataset.newer),
  ']': () => link('next', body.dataset.older),
  y: () => { if (run) copy(`${location.origin}/runs/${run}${seq() ? `/at/${seq()}` : ''}`, 'Link copied'); },
  Y: () => { const at = place(); if (at) copy(at.innerText, 'Text copied'); },
  R: () => { if (run) copy(`steno resume ${run}`, 'Command copied'); },
  r: () => { if (run && seq()) location.assign(`/runs/${run}/raw/${seq()}`); },
  s: toggleStar,
  d: toggleTheme,
  '?': () => location.assign('/help'),
};

const palette = () => {
  const dialog = document.createElement('dialog');
  dialog.className = 'palette';
  const field = document.createElement('input');
  field.placeholder = 'Go to …';
  field.setAttribute('aria-label', 'Go to');
  const list = document.createElement('ul');
  const links = [...document.querySelectorAll('.bar nav a,.views a,.toc a,table.runs td:nth-child(2) a')];
  const fill = () => {
    const sought = field.value.toLowerCase();
    list.replaceChildren(...links.filter((each) => each.textContent.toLowerCase().includes(sought)).slice(0, 30).map((each) => {
      const item = document.createElement('li'), copied = document.createElement('a');
      copied.href = each.href;
      copied.textContent = each.textContent;
      item.append(copied);
      return item;
    }));
  };
  field.addEventListener('input', fill);
  field.addEventListener('keydown', (event) => {
    const first = list.querySelector('a');
    if (event.key === 'Enter' && first) { dialog.close(); location.assign(first.href); }
  });
  dialog.addEventListener('close', () => dialog.remove());
  dialog.append(field, list);
  body.append(dialog);
  fill();
  dialog.showModal();
};

addEventListener('keydown', (event) => {
  const typing = event.target.closest && event.target.closest('input,select,textarea,[contenteditable]');
  if (event.key === 'k' && (event.ctrlKey || event.metaKey)) { event.preventDefault(); palette(); return; }
  if (event.key === 'Escape') { if (typing) event.target.blur(); current = null; here(null); return; }
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === 'Enter' && event.target.closest('a,button,summary')) return;
  if (event.key === 'g' && before === 'g') { before = ''; current = null; scrollTo({ top: 0, behavior: 'instant' }); return; }
  before = event.key;
  const action = keys[event.key];
  if (action && (main || '/?d'.includes(event.key))) { event.preventDefault(); action(); }
});
