import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it, onTestFinished } from 'vitest'
import { RunningForks } from './running-forks.ts'

const MODULE = new URL('running-forks.ts', import.meta.url).href
const CLAIM = { fork: 'fix', directory: '/project', command: 'make' }
const PROCESSES = 6

function newHome(): string {
  const home = mkdtempSync(join(tmpdir(), 'coppice-running-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  mkdirSync(join(home, 'running'))
  return home
}

/** Leaves a record as a killed process does. */
function leaveRecord(home: string, name = 'fix.json'): void {
  const script = `import { createProcessTag } from ${JSON.stringify(new URL('../machine/index.ts', import.meta.url).href)}; process.stdout.write(createProcessTag())`
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' })
  writeFileSync(join(home, 'running', name), JSON.stringify({ ...CLAIM, since: 0, owner: stdout }))
}

it('a fork has one claim at a time', () => {
  const home = newHome()
  const forks = RunningForks.of(home)
  const first = forks.claim(CLAIM)
  expect(forks.claim(CLAIM)).toBeUndefined()
  first?.[Symbol.dispose]()
  expect(forks.claim(CLAIM)).toBeDefined()
})

it('the claim of a killed process is taken over, also after one that was killed at that', () => {
  const home = newHome()
  const forks = RunningForks.of(home)
  leaveRecord(home)
  leaveRecord(home, 'fix.json.next')
  expect(forks.list()).toEqual([])
  expect(forks.claim(CLAIM)).toBeUndefined()
  expect(forks.claim(CLAIM)).toBeDefined()
  expect(readdirSync(join(home, 'running'))).toEqual(['fix.json'])
})

it('of several processes that find the claim of a killed one, one takes it over', async () => {
  const home = newHome()
  leaveRecord(home)
  const script = `
    import { RunningForks } from ${JSON.stringify(MODULE)}
    const forks = RunningForks.of(${JSON.stringify(home)})
    process.stdout.write('ready\\n')
    process.stdin.once('data', () => {
      process.stdout.write(forks.claim(${JSON.stringify(CLAIM)}) === undefined ? 'none' : 'claimed')
    })
    process.stdin.once('end', () => process.exit())
  `
  const processes = Array.from({ length: PROCESSES }, () =>
    spawn(process.execPath, ['--conditions=coppice-source', '--input-type=module', '-e', script]),
  )
  const ready = processes.map(({ stdout }) => once(stdout, 'data'))
  await Promise.all(ready)
  const outputs = processes.map(({ stdout }) => once(stdout, 'data').then(([chunk]) => String(chunk)))
  for (const { stdin } of processes) stdin.write('go\n')
  // All of them live until each has answered: a claim of one that has ended is free again.
  const answers = await Promise.all(outputs)
  const ended = processes.map((child) => Promise.all([text(child.stderr), once(child, 'exit')]))
  for (const { stdin } of processes) stdin.end()
  expect((await Promise.all(ended)).map(([errors]) => errors).join('')).toBe('')
  expect(answers.filter((answer) => answer === 'claimed')).toHaveLength(1)
})
