// Before the first paint: the theme that was chosen. Loaded by every page, without a module, so that nothing flashes.
'use strict';
try {
  const theme = localStorage.getItem('stenograph-theme');
  if (theme === 'dark' || theme === 'light') document.documentElement.dataset.theme = theme;
} catch { /* a private window: as the system has it */ }
