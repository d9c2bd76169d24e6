// Live updates of an open page. One stream for the whole browser: the tab that holds the lock has it, and passes
// everything on; when that tab closes, the next one takes over from the cursors that the tabs themselves have.
import { body, localTimes, main, mark, reveal, run, say } from './page.js';

const isLast = body.dataset.page === 'last';
const cursors = new Map(); // by run: revision and number of what this tab has
const note = (text) => {
  const [id, revision, seq] = text.split(':');
  cursors.set(id, { revision: Number(revision), seq: Number(seq) });
};
if (body.dataset.cursor) note(body.dataset.cursor);
const topics = () => [...(body.dataset.topic === 'list' ? ['list'] : []), ...(run && body.dataset.cursor ? [run] : [])];
const cursorText = () => [...cursors].map(([id, each]) => `${id}:${each.revision}:${each.seq}`).join(',');

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
  scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
};
let lastUnit = 0;
let placed = 0; // scrolls of our own are not the reader's
if (following) scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
addEventListener('scroll', () => {
  if (performance.now() < placed) return;
  following = atEnd();
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
  if (wasAtEnd) {
    placed = performance.now() + 150;
    scrollTo({ top: document.documentElement.scrollHeight, behavior: 'instant' });
  } else count(number);
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
  if (!location.search) table.prepend(fresh);
};
// A notification, where the reader allowed it: once whenever a run begins to wait or fails, not for one that did so
// before the page was opened.
const statuses = new Map([...document.querySelectorAll('tr[data-run]')].map((each) => [each.dataset.run, each.dataset.status]));
const notify = (message) => {
  const before = statuses.get(message.run);
  statuses.set(message.run, message.status);
  if (before === message.status || (before === undefined && message.is_first)) return;
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
  const known = cursors.get(message.run);
  if (kind === 'run') {
    if (message.run === run) showRun(message);
    if (body.dataset.topic === 'list') changeRow(message);
    return;
  }
  if (message.run !== run || !known) return;
  const [, revision] = message.cursor.split(':').map(Number);
  if (kind === 'gap') {
    note(message.cursor);
    if (following || !isLast) location.reload(); else { say('The run was ordered anew'); count(1); }
    return;
  }
  if (revision === known.revision && message.seq <= known.seq) return; // it was here already
  cursors.set(run, { revision, seq: message.seq });
  if (message.unit) lastUnit = message.unit;
  if (!main || body.dataset.view) return;
  if (!isLast) { count(message.count); return; }
  grown(message.count, () => (kind === 'append' ? append : replace)(message));
};

// The stream itself, where this tab has it.
const channel = window.BroadcastChannel ? new BroadcastChannel('stenograph') : null;
const tabs = new Map(); // by the name of a tab: its topics and cursor
const own = Math.random().toString(36).slice(2);
let source = null, opened = '', opening = 0;

const merged = () => {
  const wanted = new Set(topics()), least = new Map();
  const all = [cursorText(), ...[...tabs.values()].map((each) => each.cursor)];
  for (const tab of tabs.values()) for (const topic of tab.topics) wanted.add(topic);
  for (const text of all.join(',').split(',').filter(Boolean)) {
    const [id, revision, seq] = text.split(':');
    const before = least.get(id);
    if (!before || Number(seq) < before.seq) least.set(id, { revision, seq: Number(seq) });
  }
  const after = [...least].map(([id, each]) => `${id}:${each.revision}:${each.seq}`).join(',');
  return { runs: [...wanted].sort().join(','), after };
};
const open = () => {
  const { runs, after } = merged();
  if (source && runs === opened) return;
  if (source) source.close();
  source = null;
  opened = runs;
  if (!runs) return;
  source = new EventSource(`/api/v1/stream?runs=${runs}&after=${encodeURIComponent(after)}`);
  for (const kind of ['append', 'replace', 'run', 'gap']) {
    source.addEventListener(kind, (event) => {
      const message = JSON.parse(event.data);
      if (channel) channel.postMessage({ kind, message });
      take(kind, message);
      if (kind === 'run') notify(message);
    });
  }
  // A stream that the browser gave up on is opened again; one that it opens again itself resumes by its last id.
  source.addEventListener('error', () => {
    if (source && source.readyState === EventSource.CLOSED) { opened = ''; source = null; reopen(1000); }
  });
};
let leads = false;
const reopen = (wait = 30) => { clearTimeout(opening); opening = setTimeout(() => { if (leads) open(); }, wait); };
const hello = () => channel && channel.postMessage({ kind: 'hello', name: own, topics: topics(), cursor: cursorText() });
const lead = () => {
  leads = true;
  body.dataset.leads = '1';
  if (channel) channel.postMessage({ kind: 'who' });
  reopen(channel ? 60 : 0);
};

// How far it was read: events that come while the page is hidden are marked as new in the list.
if (isLast && run && body.dataset.cursor) {
  let sent = 0;
  const read = () => {
    const { seq } = cursors.get(run);
    if (document.visibilityState !== 'visible' || seq === sent) return;
    sent = seq;
    mark({ seen: seq });
  };
  setTimeout(read, 1500);
  addEventListener('pagehide', read);
}

if (topics().length) {
  if (channel && navigator.locks) {
    channel.addEventListener('message', ({ data }) => {
      if (data.kind === 'hello') { tabs.set(data.name, data); if (leads) reopen(); }
      else if (data.kind === 'gone') { tabs.delete(data.name); if (leads) reopen(2000); }
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
      else { leads = false; if (source) source.close(); source = null; opened = ''; }
    };
    document.addEventListener('visibilitychange', look);
    look();
  }
}
