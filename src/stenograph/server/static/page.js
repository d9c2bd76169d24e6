// What all modules share: the root, the transcript, a word to the reader, folds, local times and the theme.
export const root = document.documentElement;
export const body = document.body;
export const main = document.querySelector('main');
export const run = body.dataset.run || '';

const toast = document.getElementById('toast');
let fading = 0;
export const say = (words) => {
  toast.textContent = words;
  clearTimeout(fading);
  fading = setTimeout(() => { toast.textContent = ''; }, 1800);
};

export const store = {
  get(name) { try { return localStorage.getItem(name); } catch { return null; } },
  set(name, value) { try { localStorage.setItem(name, value); } catch { /* a private window */ } },
};

export const reveal = (node) => {
  for (let each = node; each && each !== main; each = each.parentElement) {
    if (each.tagName === 'DETAILS') each.open = true;
    if (each.classList.contains('unit')) each.style.contentVisibility = 'visible';
  }
};

export const here = (node, where = 'start') => {
  for (const each of document.querySelectorAll('.is-here')) each.classList.remove('is-here');
  if (!node) return;
  node.classList.add('is-here');
  reveal(node);
  if (!node.getClientRects().length) setDensity('all'); // what the density hides is what was asked for
  node.scrollIntoView({ block: where, behavior: 'instant' });
};

export const toggleTheme = () => {
  const now = root.dataset.theme;
  const dark = now ? now === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
  store.set('stenograph-theme', root.dataset.theme);
};

const two = (number) => String(number).padStart(2, '0');
const local = (moment) => [
  [moment.getFullYear(), two(moment.getMonth() + 1), two(moment.getDate())].join('-'),
  [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map(two).join(':'),
];
export const localTimes = (within) => {
  for (const each of within.querySelectorAll('time[datetime]')) {
    const moment = new Date(each.dateTime);
    if (Number.isNaN(moment.valueOf())) continue;
    each.title = `${moment.toLocaleString()} (${each.dateTime})`;
    const [date, time] = local(moment);
    if (/^\d\d:\d\d:\d\d$/.test(each.textContent)) each.textContent = time;
    else if (/^\d{4}-\d\d-\d\d \d\d:\d\d$/.test(each.textContent)) each.textContent = `${date} ${time.slice(0, 5)}`;
  }
};

export const visit = () => {
  const target = document.getElementById(location.hash.slice(1));
  if (target && main && main.contains(target)) here(target);
};

export const copy = (text, message) => {
  const copied = navigator.clipboard ? navigator.clipboard.writeText(text) : Promise.reject();
  copied.then(() => say(message), () => say(text));
};

export const setDensity = (name) => {
  body.dataset.density = name;
  for (const each of document.querySelectorAll('[data-density-of]')) {
    if (each.dataset.densityOf === name) each.setAttribute('aria-current', 'true'); else each.removeAttribute('aria-current');
  }
  const place = new URL(location.href);
  place.searchParams.set('density', name);
  history.replaceState(null, '', place);
};

// What the reader notes of a run; the only thing that is ever sent.
export const mark = (change) => fetch('/api/v1/marks', {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: JSON.stringify({ run_id: run, ...change }),
  keepalive: true,
});
const star = document.querySelector('[data-do=star]');
const showStar = (isSet) => { star.setAttribute('aria-pressed', String(isSet)); star.textContent = isSet ? '★' : '☆'; };
export const toggleStar = async () => {
  if (!star) return;
  const isSet = star.getAttribute('aria-pressed') !== 'true';
  const answer = await mark({ star: isSet });
  if (answer.ok) { showStar(isSet); say(isSet ? 'Starred' : 'No longer starred'); } else say('That could not be kept');
};

export const once = () => {
  if (star) {
    star.hidden = false;
    showStar(star.getAttribute('aria-pressed') === 'true');
    star.addEventListener('click', toggleStar);
  }
  for (const button of document.querySelectorAll('[data-do=theme]')) {
    button.hidden = false;
    button.addEventListener('click', toggleTheme);
  }
  for (const each of document.querySelectorAll('[data-density-of]')) {
    each.addEventListener('click', (event) => { event.preventDefault(); setDensity(each.dataset.densityOf); });
  }
  const form = document.querySelector('.marks form');
  if (form) {
    form.addEventListener('submit', async (event) => {
      event.preventDefault();
      const { name, tags, note, star: starred } = form.elements;
      const listed = tags.value.split(',').map((each) => each.trim()).filter(Boolean);
      const answer = await mark({ name: name.value.trim() || null, tags: [...new Set(listed)], note: note.value.trim() || null, star: starred.checked });
      if (answer.ok) location.reload(); else say((await answer.json()).error);
    });
  }
  const sift = document.getElementById('sift');
  if (sift) {
    sift.hidden = false;
    sift.addEventListener('input', () => {
      const sought = sift.value.toLowerCase();
      for (const each of document.querySelectorAll('.toc li')) each.hidden = !each.textContent.toLowerCase().includes(sought);
    });
  }
  localTimes(document);
  addEventListener('hashchange', visit);
  visit();
};
