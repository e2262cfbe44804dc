/** Writes, reads or collects large content in a process of its own, and ends in the way that its order says. */
import { hash } from 'node:crypto'
import { isVfsError } from '../../src/vfs/index.ts'
import { openPlace, type Place } from './engines.ts'
import { largeContent } from './large-content.ts'

export interface StreamOrder {
  readonly place: Place
  /**
   * `write`: kills itself after some of a stream. `delete`: kills itself where a collection would delete the first
   * segment. `stop`: says so in the middle of a stream, and stops itself. `hold`: writes two files, says so, and waits. `read`: reads two files again and again until its stdin ends.
   */
  readonly mode: 'write' | 'delete' | 'stop' | 'hold' | 'read'
}

export interface ReadReport {
  readonly reads: number
  readonly problems: readonly string[]
}

const MEBIBYTE = 1024 * 1024
const { place, mode }: StreamOrder = JSON.parse(process.argv[2] ?? '')
const { home, engine } = await openPlace(place)
const vault = await home.vault('base')

async function* endingStream(): AsyncGenerator<Uint8Array> {
  const content = largeContent('of a killed writer', 24 * MEBIBYTE)
  for (let at = 0; at < content.length; at += MEBIBYTE) {
    if (at === 20 * MEBIBYTE) {
      // The first segments are stored by then.
      while (((await engine.segments?.list()) ?? []).length < 2)
        await new Promise((resolve) => setImmediate(resolve))
      if (mode === 'stop') process.stdout.write('stopping\n')
      process.kill(process.pid, mode === 'stop' ? 'SIGSTOP' : 'SIGKILL')
    }
    yield content.subarray(at, at + MEBIBYTE)
  }
}

async function readAll(): Promise<ReadReport> {
  let [reads, isOver] = [0, false]
  const problems: string[] = []
  process.stdin.resume().on('end', () => {
    isOver = true
  })
  process.stdout.write('reading\n')
  for (; !isOver; reads++) {
    for (const path of ['/kept', '/changing']) {
      await new Promise((resolve) => setImmediate(resolve))
      try {
        const parts = await Array.fromAsync(vault.read(path))
        const [name = ''] = Buffer.from(parts[0] ?? [])
          .toString('latin1')
          .split('\n')
        const isWhole = hash('sha256', Buffer.concat(parts)) === hash('sha256', largeContent(name))
        if (!isWhole) problems.push(`${path} is not ${JSON.stringify(name)}`)
      } catch (error) {
        problems.push(isVfsError(error) ? `${error.code} ${error.message}` : String(error))
      }
    }
  }
  return { reads, problems: problems.slice(0, 5) }
}

if (mode === 'write') await vault.write('/large', endingStream())
if (mode === 'delete') {
  const { segments } = engine
  if (segments !== undefined) segments.delete = () => process.kill(process.pid, 'SIGKILL') && undefined
  await home.gc()
}
if (mode === 'stop') {
  const outcome = await vault.write('/large', endingStream()).catch((error: unknown) => error)
  process.stdout.write(`${isVfsError(outcome) ? outcome.code : 'written'}\n`)
}
if (mode === 'hold') {
  await vault.write('/large', largeContent('large', 20 * MEBIBYTE))
  await home.sync()
  await vault.write('/later', largeContent('later', 20 * MEBIBYTE))
  process.stdout.write('written\n')
  await new Promise((resolve) => process.stdin.once('end', resolve).resume())
}
if (mode === 'read') process.stdout.write(`${JSON.stringify(await readAll())}\n`)
await engine.close()
process.exit()
