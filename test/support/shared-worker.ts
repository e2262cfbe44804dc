/**
 * One of several processes on one vault. A writer does its operations and says nothing unless something goes wrong; a
 * reader looks again and again until its stdin ends, and tells what it saw.
 */
import type { Home, Vault } from '../../src/backends/vault/index.ts'
import { openPlace, type Place } from './engines.ts'
import { operate, problemsIn } from './shared-work.ts'

export interface WorkOrder {
  readonly place: Place
  readonly writers: number
  /** Which writer this is; a reader when absent. */
  readonly writer?: number
  readonly operations: number
}

export interface Sighting {
  readonly looks: number
  readonly different: number
  readonly problems: readonly string[]
}

async function work(home: Home, vault: Vault, writer: number, operations: number): Promise<void> {
  for (let number = 0; number < operations; number++) await operate(home, vault, writer, number)
}

async function watch(vault: Vault, writers: number): Promise<Sighting> {
  const problems: string[] = []
  const seen = new Set<string>()
  let looks = 0
  let isOver = false
  process.stdin.on('end', () => {
    isOver = true
  })
  process.stdin.resume()
  for (; !isOver; looks++) {
    const entries = await Array.fromAsync(vault.walk('/watched'))
    problems.push(...problemsIn(entries, writers))
    seen.add(entries.map(({ path, stat }) => `${path} ${stat.size}`).join())
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { looks, different: seen.size, problems: problems.slice(0, 5) }
}

const { place, writers, writer, operations }: WorkOrder = JSON.parse(process.argv[2] ?? '')
const { home, engine } = await openPlace(place)
const vault = await home.vault('base')
if (writer === undefined) process.stdout.write(JSON.stringify(await watch(vault, writers)))
else await work(home, vault, writer, operations)
await engine.close()
process.stdin.destroy()
