/**
 * Holds a walk of a vault in its middle and says so. For each line on stdin it writes a file, and reports what came of
 * it.
 */
import { createInterface } from 'node:readline'
import { isVfsError } from '../../src/vfs/index.ts'
import { openPlace, type Place } from './engines.ts'

const place: Place = JSON.parse(process.argv[2] ?? '')
const { home } = await openPlace(place)
const vault = await home.vault('base')
const walk = vault.walk('/')[Symbol.asyncIterator]()
await walk.next()
process.stdout.write('holding\n')
let number = 0
for await (const _line of createInterface({ input: process.stdin })) {
  const outcome = await vault.write(`/late-${++number}`, 'late '.repeat(2000)).then(
    () => 'done',
    (error: unknown) => (isVfsError(error) ? error.code : String(error)),
  )
  process.stdout.write(`${outcome}\n`)
}
await walk.return?.()
await home.close()
