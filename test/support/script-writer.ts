/**
 * Performs a script on a home from a step on, and acknowledges each on stdout once it is committed: `7 done`.
 * A failure of the storage is printed as `failed 7 EIO message`; after so many with nothing done in between it gives up.
 */
import { writeSync } from 'node:fs'
import { isVfsError } from '../../src/vfs/index.ts'
import { openPlace, type Place } from './engines.ts'
import { type ScriptOptions, stepAt } from './script.ts'
import { HomeStage, perform } from './stage.ts'

export interface WriterOrder {
  readonly place: Place
  readonly script: ScriptOptions
  readonly start: number
  /** Where to stop; never when absent. */
  readonly end?: number
}

const MOST_FAILURES = 10

/** Synchronous: the line is in the pipe, whatever happens to this process next. */
function tell(line: string): void {
  writeSync(1, `${line}\n`)
}

async function follow({ place, script, start, end = Number.POSITIVE_INFINITY }: WriterOrder): Promise<void> {
  tell('opening')
  const { home } = await openPlace(place)
  const stage = new HomeStage(home)
  let failures = 0
  for (let number = start; number < end && failures < MOST_FAILURES; number++) {
    try {
      const outcome = await perform(stage, stepAt(script, number))
      tell(`${number} ${outcome}`)
      if (outcome === 'done') failures = 0
    } catch (error) {
      if (!isVfsError(error)) throw error
      tell(`failed ${number} ${error.code} ${error.message}`)
      failures++
    }
  }
}

await follow(JSON.parse(process.argv[2] ?? ''))
// At once, as a crash would: a fold on the way out would hide what the journal lacks.
process.exit()
