import './live.js';
