/**
 * Reads a vault again and again until its stdin ends, and reports what went wrong. `still` holds one walk in its middle
 * and says so; a line on stdin lets it go on.
 */
import { createInterface } from 'node:readline'
import { isVfsError, readText } from '../../src/vfs/index.ts'
import { openPlace, type Place } from './engines.ts'

export interface WalkOrder {
  readonly place: Place
  readonly mode: 'again and again' | 'still'
}

export interface WalkReport {
  readonly walks: number
  readonly files: number
  readonly problems: readonly string[]
}

const { place, mode }: WalkOrder = JSON.parse(process.argv[2] ?? '')
const { home, engine } = await openPlace(place)
const vault = await home.vault('base')
const problems: string[] = []
let [walks, files, isOver] = [0, 0, false]
const lines = createInterface({ input: process.stdin })
lines.on('close', () => {
  isOver = true
})

async function walk(): Promise<void> {
  const counts = new Map<string, number>()
  for await (const { path } of vault.walk('/')) {
    files++
    const [, directory = ''] = path.split('/')
    counts.set(directory, (counts.get(directory) ?? 0) + 1)
    if (files % 50 === 0) await new Promise((resolve) => setImmediate(resolve))
  }
  // Each directory is removed and made whole in one commit.
  for (const [directory, count] of counts)
    if (count !== 200) problems.push(`/${directory} has ${count} files`)
}

async function stand(): Promise<void> {
  const paths: string[] = []
  const stream = vault.walk('/')[Symbol.asyncIterator]()
  await stream.next()
  process.stdout.write('holding\n')
  await new Promise((resolve) => lines.once('line', resolve))
  for (let step = await stream.next(); !step.done; step = await stream.next()) paths.push(step.value.path)
  files = paths.length + 1
  // What is there now can be read, whatever became of the walk.
  problems.push(...(paths.length === 0 ? ['nothing was walked'] : []))
}

try {
  if (mode === 'still') await stand()
  else for (; !isOver; walks++) await walk()
} catch (error) {
  problems.push(isVfsError(error) ? `${error.code} ${error.message}` : String(error))
}
if (mode === 'still') problems.push(`now: ${await readText(vault, '/now')}`)
// Closed first: the next collection of the test expects that nothing is held.
await engine.close()
process.stdout.write(`${JSON.stringify({ walks, files, problems: problems.slice(0, 5) })}\n`)
process.exit()
