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
  let folding = 'as it was';
  $('fold').addEventListener('click', () => {
    folding = folding === 'as it was' ? 'open' : folding === 'open' ? 'closed' : 'as it was';
    for (const each of all) each.open = folding === 'open' || (folding === 'as it was' && start.has(each));
    $('fold').textContent = { 'as it was': 'Unfold all', open: 'Fold all', closed: 'Fold some' }[folding];
  });

  const reveal = (node) => {
    for (let each = node; each && each !== main; each = each.parentElement) {
      if (each.tagName === 'DETAILS') each.open = true;
    }
  };
  const visit = () => {
    const target = document.getElementById(location.hash.slice(1)); // our names need no escapes
    if (target && main.contains(target)) { reveal(target); target.scrollIntoView({ block: 'start' }); }
  };
  addEventListener('hashchange', visit);
  visit();

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
    const copied = navigator.clipboard ? navigator.clipboard.writeText(link.href) : Promise.reject();
    copied.then(() => say('Link copied'), () => say('Link is in the address bar'));
  });

  const box = $('search'), count = $('count');
  const marks = window.CSS && CSS.highlights && window.Highlight;
  let found = [], at = -1, waiting = 0, sought = '';
  const ranges = (words) => {
    const walker = document.createTreeWalker(main, NodeFilter.SHOW_TEXT), hits = [];
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
  // Units that come into sight get their real height only then, so the place is looked up again until it stays.
  const show = (range, tries) => {
    const place = range.getBoundingClientRect(), off = place.top + place.height / 2 - innerHeight / 2;
    const before = scrollY;
    if (Math.abs(off) > innerHeight / 5) scrollBy(0, off);
    const more = scrollY === before ? 0 : tries - 1;
    if (tries > 0) requestAnimationFrame(() => { if (found[at] === range) show(range, more); });
  };
  const go = (step) => {
    if (!found.length) return;
    at = (at + step + found.length) % found.length;
    const here = found[at].startContainer.parentElement;
    for (const each of main.querySelectorAll('.hit')) each.classList.remove('hit');
    reveal(here);
    if (marks) CSS.highlights.set('current', new Highlight(found[at])); else here.classList.add('hit');
    here.scrollIntoView({ block: 'center' });
    show(found[at], 8);
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
  addEventListener('keydown', (event) => {
    if (event.key === '/' && document.activeElement !== box) { event.preventDefault(); box.focus(); }
  });

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
