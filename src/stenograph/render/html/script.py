"""The page's script: folding, search, theme and copied links. The page reads well without it."""

SCRIPT = r"""
'use strict';
(() => {
  const $ = (name) => document.getElementById(name);
  const root = document.documentElement, main = document.querySelector('main');
  const store = {
    get() { try { return localStorage.getItem('stenograph-theme'); } catch { return null; } },
    set(theme) { try { localStorage.setItem('stenograph-theme', theme); } catch { /* a private window */ } },
  };
  const known = store.get();
  if (known === 'dark' || known === 'light') root.dataset.theme = known;
  $('tools').hidden = false;
  $('theme').addEventListener('click', () => {
    const now = root.dataset.theme;
    const dark = now ? now === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
    root.dataset.theme = dark ? 'light' : 'dark';
    store.set(root.dataset.theme);
  });

  const all = [...main.querySelectorAll('details')];
  const start = new Set(all.filter((each) => each.open));
  const noise = $('noise'), densities = ['brief', 'normal', 'all'];
  const density = (name) => {
    for (const each of all) each.open = name === 'all' || (name === 'normal' && start.has(each));
    if (noise) noise.checked = name === 'all';
    for (const each of densities) $(each).classList.toggle('on', each === name);
  };
  if (densities.includes(document.body.dataset.density)) density(document.body.dataset.density);
  else $('normal').classList.add('on');
  delete document.body.dataset.density; // from now on the buttons say it
  for (const each of densities) $(each).addEventListener('click', () => density(each));

  const reveal = (node) => {
    for (let each = node; each && each !== main; each = each.parentElement) {
      if (each.tagName === 'DETAILS') each.open = true;
      if (noise && each.classList.contains('asides')) noise.checked = true;
    }
  };
  // What is out of sight has no height yet, so a place is looked up again until it stays.
  const settle = (place, goal, tries) => {
    const off = place() - goal, before = scrollY;
    if (Math.abs(off) > 2) scrollBy(0, off);
    if (tries > 0 && scrollY !== before) requestAnimationFrame(() => settle(place, goal, tries - 1));
  };
  let now = null;
  const visitTo = (target) => {
    reveal(target);
    if (now) now.classList.remove('now');
    now = target;
    now.classList.add('now');
    target.scrollIntoView({ block: 'start' });
    settle(() => target.getBoundingClientRect().top, 80, 8);
  };
  const visit = () => {
    const target = document.getElementById(location.hash.slice(1)); // our names need no escapes
    if (target && main.contains(target)) { reveal(target); target.scrollIntoView({ block: 'start' }); }
  };
  addEventListener('hashchange', visit);
  visit();
  for (const each of document.querySelectorAll('time')) {
    const moment = new Date(each.dateTime);
    if (isNaN(moment)) continue;
    const link = each.closest('a.at');
    if (link) link.title = `${moment.toLocaleString()} (${link.title})`;
    each.textContent = moment.toLocaleTimeString([], { hour12: false });
  }

  const toast = $('toast');
  let fading = 0;
  const say = (words) => {
    toast.textContent = words;
    clearTimeout(fading);
    fading = setTimeout(() => { toast.textContent = ''; }, 1600);
  };
  main.addEventListener('click', (event) => {
    const link = event.target.closest && event.target.closest('a.at');
    if (!link) return;
    put(link.href).then(() => say('Link copied'), () => say('Link is in the address bar'));
  });
  const put = (words) => (navigator.clipboard ? navigator.clipboard.writeText(words) : Promise.reject());
  const textOf = (node) => {
    const raw = node.querySelector('.raw > .said');
    if (raw) return raw.textContent;
    if (node.tagName === 'PRE') return node.textContent;
    const parts = [...node.querySelectorAll('.md, .said, pre:not(.gutter)')];
    const outer = parts.filter((each) => !each.parentElement.closest('.md'));
    return outer.map((each) => each.textContent).join('\n') || node.textContent;
  };
  const refused = () => say('The browser does not let this page copy');
  const take = (node) => put(textOf(node)).then(() => say('Copied'), refused);
  const copy = $('copy');
  let over = null;
  main.addEventListener('pointerover', (event) => {
    const node = event.target.closest && event.target.closest('pre:not(.gutter), article.ev');
    if (!node || node === over) return;
    over = node;
    const place = node.getBoundingClientRect();
    copy.hidden = false;
    const style = copy.style; // set by script, which the policy allows
    style.top = `${scrollY + place.top + 4}px`;
    style.left = `${scrollX + place.right - copy.offsetWidth - (node.tagName === 'PRE' ? 6 : 80)}px`;
  });
  copy.addEventListener('click', () => { if (over) take(over); });

  const box = $('search'), count = $('count');
  const marks = window.CSS && CSS.highlights && window.Highlight;
  let found = [], at = -1, waiting = 0, sought = '';
  const ranges = (words) => {
    const seen = (node) => !node.parentElement.closest('.raw, .out, summary small'); // their words stand elsewhere, too
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT, (node) => (seen(node) ? 1 : 2)), hits = [];
    while (walker.nextNode() && hits.length < 5000) {
      const node = walker.currentNode, small = node.data.toLowerCase();
      const text = small.length === node.length ? small : node.data; // some letters grow when they become small
      for (let i = text.indexOf(words); i >= 0 && hits.length < 5000; i = text.indexOf(words, i + words.length)) {
        const range = document.createRange();
        range.setStart(node, i);
        range.setEnd(node, Math.min(node.length, i + words.length));
        hits.push(range);
      }
    }
    return hits;
  };
  const go = (step) => {
    if (!found.length) return;
    at = (at + step + found.length) % found.length;
    const here = found[at].startContainer.parentElement;
    for (const each of main.querySelectorAll('.hit')) each.classList.remove('hit');
    reveal(here);
    if (marks) CSS.highlights.set('current', new Highlight(found[at])); else here.classList.add('hit');
    here.scrollIntoView({ block: 'center' });
    const range = found[at];
    settle(() => range.getBoundingClientRect().top, innerHeight / 2, 8);
    count.textContent = `${at + 1} of ${found.length}${found.length === 5000 ? '+' : ''}`;
  };
  const search = () => {
    const words = sought = box.value.toLowerCase();
    clearTimeout(waiting);
    found = words.length > 1 ? ranges(words) : [];
    at = -1;
    if (marks) {
      CSS.highlights.delete('current');
      CSS.highlights.set('found', new Highlight(...found));
    }
    count.textContent = words.length > 1 ? (found.length ? '' : 'not found') : '';
    go(1);
  };
  box.addEventListener('input', () => { clearTimeout(waiting); waiting = setTimeout(search, 150); });
  box.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      if (sought === box.value.toLowerCase()) go(event.shiftKey ? -1 : 1); else search();
    }
    if (event.key === 'Escape') { box.value = ''; search(); box.blur(); }
  });
  $('next').addEventListener('click', () => go(1));
  $('previous').addEventListener('click', () => go(-1));

  const events = '.ev:not(.spot)', errors = '.tool.failed, .error, .step.failed', changes = '.tool.edit, .tool.write';
  const shown = (each) => each.checkVisibility ? each.checkVisibility() : each.offsetParent !== null;
  const move = (selector, step, hidden) => {
    const places = [...main.querySelectorAll(selector)].filter((each) => hidden || shown(each));
    if (!places.length) return say('There is none');
    let next;
    if (now) {
      const after = (each) => now.compareDocumentPosition(each) & (step > 0 ? 4 : 2);
      next = step > 0 ? places.find(after) : places.filter(after).pop();
    } else next = step > 0 ? places.find((each) => each.getBoundingClientRect().bottom > 80) : places[0];
    if (next) visitTo(next); else say(step > 0 ? 'That was the last one' : 'That was the first one');
  };
  const foldOf = (each) => (each && (each.matches('details') ? each : each.querySelector('details'))) || null;
  const foldAll = (selector) => {
    const folds = [...main.querySelectorAll(selector)], open = folds.some((each) => !each.open);
    for (const each of folds) each.open = open;
  };
  const link = () => { const at = now && now.querySelector('a.at'); return at ? at.href : location.href; };
  const end = (top) => scrollTo(0, top ? 0 : document.documentElement.scrollHeight);
  let before = '';
  const keys = {
    j: () => move(events, 1), k: () => move(events, -1),
    J: () => move('.unit > .user', 1), K: () => move('.unit > .user', -1),
    e: () => move(errors, 1, true), E: () => move(errors, -1, true),
    c: () => move(changes, 1, true), C: () => move(changes, -1, true),
    u: () => { const up = now && now.parentElement.closest('.ev, .agent, .unit'); if (up) visitTo(up); },
    o: () => { const fold = foldOf(now); if (fold) fold.open = !fold.open; },
    O: () => { const fold = foldOf(now); if (fold) foldAll(`details.${fold.classList[fold.classList.length - 1]}`); },
    1: () => density('brief'), 2: () => density('normal'), 3: () => density('all'),
    a: () => { if (noise) noise.checked = !noise.checked; },
    t: () => foldAll('.think'), '/': () => box.focus(), n: () => go(1), N: () => go(-1),
    g: () => { if (before === 'g') end(true); }, G: () => end(false),
    y: () => put(link()).then(() => say('Link copied'), () => say(link())),
    Y: () => { if (now) take(now); }, d: () => $('theme').click(),
    '?': () => { $('help').hidden = !$('help').hidden; }, Escape: () => { $('help').hidden = true; },
  };
  addEventListener('keydown', (event) => {
    const typing = /^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName) && document.activeElement !== noise;
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(keys, event.key)) return;
    event.preventDefault();
    keys[event.key]();
    before = before === 'g' ? '' : event.key;
  });
  $('error').hidden = !main.querySelector(errors);
  $('error').addEventListener('click', keys.e);
  if ($('errors')) {
    $('errors').addEventListener('click', (event) => { event.preventDefault(); now = null; keys.e(); });
  }
  $('keys').addEventListener('click', keys['?']);
  const sift = $('sift');
  if (sift) {
    sift.hidden = false;
    sift.addEventListener('input', () => {
      const sought = sift.value.toLowerCase();
      for (const each of document.querySelectorAll('.toc li')) {
        each.hidden = !each.textContent.toLowerCase().includes(sought);
      }
    });
  }

  if (window.IntersectionObserver) {
    const links = new Map([...document.querySelectorAll('.toc a')].map((link) => [link.hash.slice(1), link]));
    const seen = new IntersectionObserver((entries) => {
      for (const entry of entries) {
        const link = links.get(entry.target.id);
        if (link) link.classList.toggle('here', entry.isIntersecting);
      }
    }, { rootMargin: '-20% 0px -70% 0px' });
    for (const unit of main.querySelectorAll('.unit')) seen.observe(unit);
  }
})();
"""
