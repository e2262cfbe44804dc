/** Program that watches for the hooks of a home. It writes "runs" or "taken", and "closed" at its end. */
import { HookWatcher } from '../../src/timeline/watch/hook-watcher.ts'

const [home = '', idleMs] = process.argv.slice(2)
const watcher = HookWatcher.start(home, idleMs === undefined ? {} : { idleMs: Number(idleMs) })
console.log(watcher === undefined ? 'taken' : 'runs')
await watcher?.closed
console.log('closed')
