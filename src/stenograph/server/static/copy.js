// A button that copies what is under the mouse: a message, a command, an output.
import { body, copy, main } from './page.js';

const textOf = (node) => {
  const raw = node.querySelector('.raw > .said');
  if (raw) return raw.textContent;
  if (node.tagName === 'PRE') return node.textContent;
  const parts = [...node.querySelectorAll('.md, .said, pre:not(.gutter)')];
  const outer = parts.filter((each) => !each.parentElement.closest('.md'));
  return outer.map((each) => each.textContent).join('\n') || node.textContent;
};

if (main) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy';
  button.textContent = 'Copy';
  button.hidden = true;
  body.append(button);
  let over = null;
  main.addEventListener('pointerover', (event) => {
    const node = event.target.closest && event.target.closest('pre:not(.gutter), article.ev');
    if (!node || node === over) return;
    over = node;
    button.hidden = false;
    const place = node.getBoundingClientRect();
    button.style.top = `${scrollY + place.top + 4}px`;
    button.style.left = `${scrollX + place.right - button.offsetWidth - (node.tagName === 'PRE' ? 6 : 90)}px`;
  });
  button.addEventListener('click', () => { if (over) copy(textOf(over), 'Copied'); });
}
