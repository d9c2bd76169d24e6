// Live updates of an open page. One stream for the whole browser: the tab that holds the lock has it, and passes
// everything on; when that tab closes, the next one takes over from the places that the tabs themselves have. A tab that
// opens, or finds that it missed something, says hello with its place, and the stream is opened again from there.
import { body, localTimes, main, mark, reveal, run, say } from './page.js';

const isLast = body.dataset.page === 'last';
const placeOf = (text) => {
  const [id, revision, seq] = text.split(':');
  return { id, revision: Number(revision), seq: Number(seq) };
};
let place = body.dataset.cursor ? placeOf(body.dataset.cursor) : null; // the run of this page, and what it has of it
const topics = [...(body.dataset.topic === 'list' ? ['list'] : []), ...(place ? [place.id] : [])];
// Where a tab is after a message about its run; null if the message does not follow what it has.
const next = (from, kind, message) => {
  const to = placeOf(message.cursor);
  if (kind === 'gap') return to;
  if (to.revision !== from.revision) return null;
  if (message.seq <= from.seq) return from; // it was here already
  return message.after === from.seq ? { ...to, seq: message.seq } : null;
};

// Fragments are made by our own server from escaped text; this is the one place where text becomes elements.
const policy = window.trustedTypes
  ? trustedTypes.createPolicy('stenograph', { createHTML: (text) => text })
  : { createHTML: (text) => text };
const made = (html) => {
  const template = document.createElement('template');
  template.innerHTML = policy.createHTML(html);
  localTimes(template.content);
  return template.content;
};

// Following: at the end the page goes along, elsewhere nothing moves and a pill counts.
const isOpen = ['running', 'waiting'].includes(body.dataset.status);
let following = isLast && isOpen && !location.hash && !new URLSearchParams(location.search).has('unit');
let missed = 0;
const atEnd = () => innerHeight + scrollY >= document.documentElement.scrollHeight - 60;
const pill = document.createElement('button');
pill.className = 'pill';
pill.type = 'button';
pill.hidden = true;
pill.addEventListener('click', () => follow());
body.append(pill);
const count = (number) => {
  missed += number;
  pill.hidden = !missed;
  pill.textContent = `${missed} new ↓`;
};
export const follow = () => {
  if (run && !isLast && missed) { location.assign(`/runs/${run}?unit=${lastUnit}`); return; }
  missed = 0;
  count(0);
  following = true;
  toEnd();
};
let lastUnit = 0;
// What is out of sight has no height yet, so the end is looked up again in the next frames.
const toEnd = (tries = 3) => {
  scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  if (tries) requestAnimationFrame(() => { if (following) toEnd(tries - 1); });
};
if (following) toEnd();
// Only the reader scrolls up; our own scrolls go to the end, however late their events come.
let lastTop = scrollY;
addEventListener('scroll', () => {
  if (atEnd()) following = true; else if (scrollY < lastTop) following = false;
  lastTop = scrollY;
  if (following && missed) { missed = 0; count(0); }
}, { passive: true });

const grown = (number, change) => {
  const wasAtEnd = following || atEnd();
  if (!missed && !wasAtEnd) {
    const line = document.createElement('p');
    line.className = 'since';
    line.textContent = `new since ${new Date().toLocaleTimeString()}`;
    for (const each of main.querySelectorAll('.since')) each.remove();
    (main.querySelector('.unit:last-of-type') || main).append(line);
  }
  change();
  if (wasAtEnd) { following = true; toEnd(); } else count(number);
};

const unitOf = (number) => {
  const units = main.querySelectorAll('.unit');
  return document.getElementById(`unit-${number}`) || units[units.length - 1] || main;
};
const append = (message) => {
  const content = made(message.html);
  if (message.source) {
    let agent = [...main.querySelectorAll('details.agent')].reverse().find((each) => each.dataset.source === message.source);
    if (!agent) {
      agent = made(message.frame).firstElementChild;
      const call = message.under && document.getElementById(message.under);
      ((call && call.querySelector(':scope > .body')) || call || unitOf(message.unit)).append(agent);
      if (call) reveal(agent.parentElement);
    }
    (agent.querySelector(':scope > .body') || agent).append(content);
    return;
  }
  const section = content.querySelector(':scope > .unit');
  const empty = main.querySelector(':scope > .empty');
  if (empty) empty.remove();
  if (section) main.append(content); else unitOf(message.unit).append(content);
};
const replace = (message) => {
  const old = document.getElementById(message.anchor), fresh = made(message.html);
  if (!old) { unitOf(0).append(fresh); return; }
  const call = fresh.getElementById(message.anchor);
  if (!call) return;
  const inside = call.querySelector(':scope > .body');
  for (const agent of old.querySelectorAll(':scope > .body > details.agent')) (inside || call).append(agent);
  if (old.open) call.open = true;
  old.replaceWith(call);
};

const showRun = (message) => {
  document.title = document.title.replace(/^[●◆✗] /u, '');
  const sign = { running: '●', waiting: '◆', failed: '✗' }[message.status];
  if (sign) document.title = `${sign} ${document.title}`;
  const mark = document.querySelector('.top.run .status');
  const fresh = made(`<table><tbody>${message.row}</tbody></table>`).querySelector('.status');
  if (mark && fresh) mark.replaceWith(fresh);
  const facts = { Turns: message.figures.turns, 'Tool calls': message.figures.tool_calls,
    Tokens: message.figures.input_tokens + message.figures.output_tokens };
  for (const each of document.querySelectorAll('.facts div')) {
    const value = facts[each.querySelector('dt').textContent];
    if (value !== undefined) each.querySelector('dd').textContent = value.toLocaleString('en-US');
  }
  const cells = made(`<table><tbody>${message.row}</tbody></table>`).querySelectorAll('td');
  for (const each of document.querySelectorAll('.facts div')) {
    const name = each.querySelector('dt').textContent;
    const cell = [...cells].find((td) => td.dataset.head === name && ['Took', 'Cost'].includes(name));
    if (cell) each.querySelector('dd').textContent = cell.textContent;
  }
};
const changeRow = (message) => {
  const table = document.querySelector('table.runs tbody');
  if (body.dataset.reload && !document.querySelector(`[data-run="${message.run}"] .status.${message.status}`)) {
    if (['running', 'waiting'].includes(message.status) || document.querySelector(`[data-run="${message.run}"]`)) location.reload();
    return;
  }
  if (!table) return;
  const fresh = made(`<table><tbody>${message.row}</tbody></table>`).querySelector('tr');
  const old = document.getElementById(fresh.id);
  if (old && old.dataset.state === fresh.dataset.state) return; // it was here already
  fresh.classList.add('unread');
  if (old) {
    fresh.querySelector('input').checked = old.querySelector('input').checked;
    old.replaceWith(fresh);
    return;
  }
  if (!location.search && message.newest) table.prepend(fresh);
};
// A notification, where the reader allowed it: once whenever a run begins to wait or fails, not for one that did so
// before the stream first named it.
const statuses = new Map([...document.querySelectorAll('tr[data-run]')].map((each) => [each.dataset.run, each.dataset.status]));
const listed = new Set(); // topics whose runs the stream has all named
const notify = (message) => {
  const before = statuses.get(message.run);
  if (before === message.status || (before === undefined && opened.some((each) => !listed.has(each)))) return;
  if (!['waiting', 'failed'].includes(message.status)) return;
  if (!window.Notification || Notification.permission !== 'granted') return;
  new Notification(message.status === 'waiting' ? 'An agent waits for you' : 'A run failed', { body: message.title, tag: message.run });
};
const asking = document.querySelector('[data-do=notify]');
if (asking && window.Notification && Notification.permission === 'default') {
  asking.hidden = false;
  asking.addEventListener('click', async () => { asking.hidden = await Notification.requestPermission() !== 'default'; });
}

const take = (kind, message) => {
  if (kind === 'listed') {
    for (const each of message.topics) listed.add(each);
    return;
  }
  if (kind === 'run') {
    statuses.set(message.run, message.status);
    if (message.run === run) showRun(message);
    if (body.dataset.topic === 'list') changeRow(message);
    return;
  }
  for (const tab of tabs.values()) {
    if (tab.place && tab.place.id === message.run) tab.place = next(tab.place, kind, message) || tab.place;
  }
  if (!place || message.run !== place.id) return;
  const reached = next(place, kind, message);
  if (!reached) { hello(); return; } // something is missing before it
  if (reached === place) return;
  place = reached;
  if (kind === 'gap') {
    if (following || !isLast) location.reload(); else { say('The run was ordered anew'); count(1); }
    return;
  }
  if (message.unit) lastUnit = message.unit;
  if (!main || body.dataset.view) return;
  if (!isLast) { count(message.count); return; }
  grown(message.count, () => (kind === 'append' ? append : replace)(message));
};

// The stream itself, where this tab has it.
const channel = window.BroadcastChannel ? new BroadcastChannel('stenograph') : null;
const tabs = new Map(); // by the name of another tab: its topics and its place
const own = Math.random().toString(36).slice(2);
let source = null, opened = [], isStale = false;

const open = () => {
  const all = [{ topics, place }, ...tabs.values()];
  const wanted = [...new Set(all.flatMap((each) => each.topics))].sort();
  if (source && !isStale && wanted.join() === opened.join()) return;
  if (source) source.close();
  source = null;
  opened = wanted;
  isStale = false;
  const places = new Set(all.filter((each) => each.place).map(({ place: { id, revision, seq } }) => `${id}:${revision}:${seq}`));
  source = new EventSource(`/api/v1/stream?runs=${wanted.join()}&after=${encodeURIComponent([...places].join())}`);
  for (const kind of ['append', 'replace', 'run', 'gap', 'listed']) {
    source.addEventListener(kind, (event) => {
      const message = kind === 'listed' ? { topics: wanted } : JSON.parse(event.data);
      if (kind === 'run') notify(message);
      if (channel) channel.postMessage({ kind, message });
      take(kind, message);
    });
  }
  // A stream that the browser gave up on is opened again; one that it opens again itself resumes by its last id.
  source.addEventListener('error', () => {
    if (source && source.readyState === EventSource.CLOSED) { source = null; reopen(1000); }
  });
};
let leads = false, opening = 0, due = Infinity;
// Open the stream again soon: always, or only if other topics are wanted than it has.
const reopen = (wait, always = true) => {
  isStale ||= always;
  const at = performance.now() + wait;
  if (at >= due) return; // it is opened before, and for this reason, too
  clearTimeout(opening);
  due = at;
  opening = setTimeout(() => { due = Infinity; if (leads) open(); }, wait);
};
const hello = () => {
  if (leads) reopen(30); else if (channel) channel.postMessage({ kind: 'hello', name: own, topics, place });
};
const lead = () => {
  leads = true;
  body.dataset.leads = '1';
  if (channel) channel.postMessage({ kind: 'who' });
  reopen(channel ? 60 : 0);
};

// How far it was read: events that come while the page is hidden are marked as new in the list.
if (isLast && place) {
  let sent = 0;
  const read = () => {
    const { seq } = place;
    if (document.visibilityState !== 'visible' || seq === sent) return;
    sent = seq;
    mark({ seen: seq });
  };
  setTimeout(read, 1500);
  addEventListener('pagehide', read);
}

if (topics.length) {
  if (channel && navigator.locks) {
    channel.addEventListener('message', ({ data }) => {
      if (data.kind === 'hello') { tabs.set(data.name, data); if (leads) reopen(30); }
      else if (data.kind === 'gone') { tabs.delete(data.name); if (leads) reopen(2000, false); }
      else if (data.kind === 'who') hello();
      else take(data.kind, data.message);
    });
    hello();
    navigator.locks.request('stenograph-stream', () => { lead(); return new Promise(() => {}); }).catch(() => lead());
    addEventListener('pagehide', () => { channel.postMessage({ kind: 'gone', name: own }); if (source) source.close(); });
    addEventListener('pageshow', (event) => { if (event.persisted) location.reload(); });
  } else {
    // Without locks: each tab has its own stream, only while it is visible.
    const look = () => {
      if (document.visibilityState === 'visible') lead();
      else { leads = false; if (source) source.close(); source = null; }
    };
    document.addEventListener('visibilitychange', look);
    look();
  }
}
