// Every page: theme, local times, folds, keys, find and the live stream. Each is a module of its own.
import { once } from './page.js';
import './keys.js';
import './find.js';
import './live.js';
import './copy.js';

once();
