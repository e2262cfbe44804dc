import { join } from 'node:path'
import type { Check, Suite } from '../check.ts'
import { needTools } from '../debian-source.ts'
import type { Places } from '../places.ts'
import { succeed } from '../program.ts'

const journalModes = ['delete', 'truncate', 'persist', 'memory', 'wal', 'off'] as const
const WRITERS = 2
const TRANSACTIONS = 150
const PATIENCE_MS = 120_000

/** A database that two processes write at once. */
export const databases: Suite = {
  name: 'sqlite',
  about: 'a SQLite database with two writer processes, in every journal mode',
  async checks(places) {
    await needTools(['sqlite3', 'sqlite3'])
    return journalModes.map((mode) => twoWriters(places, mode))
  },
}

function twoWriters(places: Places, mode: string): Check {
  return {
    name: `journal mode ${mode}`,
    async run() {
      const file = join(places.pair(mode).mounted, 'test.db')
      const setMode = `pragma journal_mode = ${mode};`
      await succeed([
        'sqlite3',
        file,
        `${setMode} create table t (writer, number, content, unique (writer, number));`,
      ])
      const writers = Array.from({ length: WRITERS }, (_, writer) =>
        succeed(['sqlite3', '-bail', file], { input: script(setMode, writer) }),
      )
      await Promise.all(writers)
      const found = await succeed([
        'sqlite3',
        file,
        'pragma integrity_check; select count(*), sum(length(content)) from t;',
      ])
      const expected = `ok\n${WRITERS * TRANSACTIONS}|${WRITERS * TRANSACTIONS * 500}\n`
      if (found !== expected) throw new Error(`there is ${found} where there should be ${expected}`)
    },
  }
}

/** Transactions that change pages of a table and of its index. */
function script(setMode: string, writer: number): string {
  const inserts = Array.from(
    { length: TRANSACTIONS },
    (_, number) =>
      `begin immediate; insert into t values (${writer}, ${number}, randomblob(400)); update t set content = randomblob(500) where writer = ${writer} and number = ${number}; commit;`,
  )
  return [`.timeout ${PATIENCE_MS}`, setMode, ...inserts].join('\n')
}
