/** Program that looks without an end whether the watcher of a home runs. */
import { getWatcherStatus } from '../../src/timeline/watch/index.ts'

const [home = ''] = process.argv.slice(2)
console.log('looks')
for (;;) getWatcherStatus(home)
