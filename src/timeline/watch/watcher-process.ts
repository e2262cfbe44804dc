/** Program that watches the directories of a home for hooks. Its argument is the home. */

import { HookWatcher } from './hook-watcher.ts'
import { endStart } from './start-watcher.ts'

void watchForHooks()

async function watchForHooks(): Promise<void> {
  const [home = ''] = process.argv.slice(2)
  try {
    const watcher = HookWatcher.start(home)
    endStart(home)
    await watcher?.closed
  } catch (error) {
    endStart(home, error instanceof Error ? error.message : String(error))
    process.exitCode = 1
  }
}
