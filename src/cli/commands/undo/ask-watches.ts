import { statSync } from 'node:fs'
import type { WatchAnswer, WatchQuestion } from '../../../timeline/events/index.ts'
import { askWatcher, startWatcher } from '../../../timeline/watch/index.ts'

/** Asks the watcher of a home about a directory. If none runs, starts one for the next hook, and returns undefined. */
export function askWatches(home: string, question: WatchQuestion): WatchAnswer | undefined {
  try {
    // Root in the home of another user: neither could read the files of the other.
    if (statSync(home).uid !== process.geteuid?.()) return undefined
    const answer = askWatcher(home, question)
    if (answer !== 'absent') return answer
    startWatcher(home)
  } catch {
    // Without a watcher, the hook compares every file.
  }
  return undefined
}
