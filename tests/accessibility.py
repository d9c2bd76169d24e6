"""What a page must have for people who hear it, or see little: names, headings, landmarks, contrast. Runs in it."""

from __future__ import annotations

from playwright.sync_api import Page

CHECK = r"""() => {
  const problems = [];
  const say = (what, each) => problems.push(`${what}: ${each.outerHTML.slice(0, 140).replace(/\s+/g, ' ')}`);
  const seen = (each) => each.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: false });
  const all = (selector) => [...document.querySelectorAll(selector)].filter(seen);
  const text = (each) => each.textContent.trim();

  // Names: everything that can be used says what it is.
  const named = (each) => (each.getAttribute('aria-label') || '').trim()
    || [...(each.labels || [])].some(text) || text(each) || each.querySelector('[aria-label]');
  for (const each of all('a[href],button,input:not([type=hidden]),select,textarea,summary')) {
    if (!each.closest('[aria-hidden=true]') && !named(each)) say('no name', each);
  }
  for (const each of all('img:not([alt])')) say('no alternative text', each);
  for (const each of all('svg:not([aria-hidden=true])')) {
    if (each.getAttribute('role') !== 'img' || !each.getAttribute('aria-label')) say('a picture without a name', each);
  }
  const reached = '[aria-hidden=true] :is(a[href],button,input):not([tabindex="-1"])';
  for (const each of all(reached)) say('hidden, but in the tab order', each);

  // Landmarks and headings.
  for (const [selector, number] of [['main', 1], ['h1', 1], ['header.bar', 1], ['footer', 1]]) {
    if (all(selector).length !== number) problems.push(`${all(selector).length} of ${selector}`);
  }
  const navigations = all('nav').map((each) => each.getAttribute('aria-label'));
  if (navigations.some((label) => !label) || new Set(navigations).size !== navigations.length) {
    problems.push(`navigations are called ${navigations}`);
  }
  let before = 0;
  for (const each of all('h1,h2,h3,h4,h5,h6').filter((each) => !each.closest('.md'))) {
    const level = Number(each.tagName[1]);
    if (level > before + 1) say(`a heading of level ${level} after ${before}`, each);
    before = level;
  }
  if (!document.documentElement.lang || !document.title) problems.push('no language or title');

  // Structure.
  const ids = [...document.querySelectorAll('[id]')].map((each) => each.id);
  for (const id of new Set(ids.filter((id, at) => ids.indexOf(id) !== at))) problems.push(`twice: #${id}`);
  const strays = 'ul>:not(li),ol>:not(li),dl>:not(dt,dd,div)';
  for (const each of document.querySelectorAll(strays)) say('not an item of its list', each);
  const heads = [...document.querySelectorAll('th:not([scope])')].filter((each) => !each.closest('.md'));
  for (const each of heads) say('a head of nothing', each);
  for (const each of document.querySelectorAll('[aria-current]')) {
    if (!['page', 'true'].includes(each.getAttribute('aria-current'))) say('no value of aria-current', each);
  }
  for (const each of all('[style]')) if (!each.matches('.unit')) say('a style of its own', each);

  // Contrast of every text against what is behind it, with all opacities.
  const parsed = (color) => { const [r, g, b, a = 1] = color.match(/[\d.]+/g).map(Number); return [r, g, b, a]; };
  const over = (top, below) => {
    const alpha = top[3] + below[3] * (1 - top[3]);
    const mixed = (at) => (top[at] * top[3] + below[at] * below[3] * (1 - top[3])) / (alpha || 1);
    return [mixed(0), mixed(1), mixed(2), alpha];
  };
  const luminance = (color) => {
    const linear = (each) => (each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4);
    const [r, g, b] = color.slice(0, 3).map((each) => linear(each / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const checked = new Map();
  while (walker.nextNode()) {
    const each = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || checked.has(each) || !seen(each)) continue;
    if (each.closest('svg,option,.unseen')) continue;
    checked.set(each, true);
    const style = getComputedStyle(each);
    let ground = [0, 0, 0, 0], opacity = 1;
    for (let at = each; at; at = at.parentElement) {
      const own = getComputedStyle(at);
      if (ground[3] < 1) ground = over(ground, parsed(own.backgroundColor));
      opacity *= Number(own.opacity);
    }
    const ink = parsed(style.color);
    const color = over([ink[0], ink[1], ink[2], ink[3] * opacity], ground);
    const [high, low] = [luminance(color), luminance(ground)].sort((a, b) => b - a);
    const ratio = (high + 0.05) / (low + 0.05), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (isLarge ? 3 : 4.5)) say(`contrast ${ratio.toFixed(2)}`, each);
  }
  return problems;
}"""


def problems_of(page: Page) -> list[str]:
    """What is wrong with a page."""
    return page.evaluate(CHECK)


def unseen_focus(page: Page, steps: int = 14) -> list[str]:
    """What can be reached with the Tab key and does not show it."""
    found = []
    for _ in range(steps):
        page.keyboard.press("Tab")
        told = page.evaluate(
            """() => { const each = document.activeElement, style = getComputedStyle(each);
            return each === document.body || (style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2)
              ? '' : each.outerHTML.slice(0, 120); }"""
        )
        found += [told] if told else []
    return found
