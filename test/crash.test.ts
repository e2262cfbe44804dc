import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import fc from 'fast-check'
import { afterAll, expect, it } from 'vitest'
import { openHome } from '../src/backends/vault/index.ts'
import { readText } from '../src/vfs/index.ts'
import { root } from './support/run-node.ts'

const KILLS = 12
const scratch = mkdtempSync(join(tmpdir(), 'coppice-crash-'))
afterAll(() => rmSync(scratch, { recursive: true, force: true }))

it.each(['sqlite', 'lmdb'] as const)(
  'a writer on %s killed at any moment has lost nothing it acknowledged, and torn nothing',
  async (engine) => {
    const path = join(scratch, engine)
    await (await openHome({ path, engine })).createVault('base')
    const acknowledged = new Set<number>()
    let start = 0
    for (const acks of fc.sample(fc.integer({ min: 1, max: 150 }), KILLS)) {
      for (const number of await runAndKill(path, engine, start, acks)) acknowledged.add(number)
      start = 2 * Math.floor(Math.max(...acknowledged) / 2) + 2
      await using home = await openHome({ path, engine })
      const vault = await home.vault('base')
      const log = (await vault.exists('/log')) ? (await readText(vault, '/log')).split('\n') : []
      for (const number of acknowledged) {
        const pair = number - (number % 2)
        const expected = number === pair ? `content ${number} `.repeat(40) : `${number}`
        expect(await readText(vault, `/d${pair % 5}/f${number}`)).toBe(expected)
        if (number !== pair) expect(log).toContain(`${pair}`)
      }
      // What was not acknowledged is there whole or not at all.
      for await (const { path: file } of vault.walk('/'))
        expect((await readText(vault, file)).length).toBeGreaterThan(0)
    }
  },
)

/** Runs a writer until it has acknowledged so many, kills it, and returns the numbers it acknowledged. */
async function runAndKill(path: string, engine: string, start: number, acks: number): Promise<number[]> {
  const writer = spawn(
    process.execPath,
    [join(root, 'test/support/vault-writer.ts'), path, engine, String(start)],
    {
      env: { ...process.env, NODE_OPTIONS: '', NODE_NO_WARNINGS: '1' },
      stdio: ['ignore', 'pipe', 'inherit'],
    },
  )
  const acknowledged: number[] = []
  for await (const line of createInterface({ input: writer.stdout })) {
    acknowledged.push(Number(line))
    if (acknowledged.length === acks) writer.kill('SIGKILL')
  }
  return acknowledged
}
