/**
 * The server of `coppice ui`: the methods of the page over the home, its kernel and its execution boundary, and the events
 * that keep the page current. `transport` carries them; merges, diffs and blame are those of other folders.
 * Invariant: everything that leaves is bounded and without secrets, and a GET changes nothing.
 */
export { openWebUi, type WebUiOptions } from './open-web-ui.ts'
export type { WebServer } from './transport/index.ts'
