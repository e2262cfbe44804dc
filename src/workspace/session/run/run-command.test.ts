import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultLimits } from '../../isolation/index.ts'
import { createOutputPipes } from './output-pipe.ts'
import { runCommand } from './run-command.ts'

const isolation = { level: 'none', network: true } as const
const spec = {
  command: { argv: ['true'] },
  cwd: '/',
  env: {},
  timeoutMs: 0,
  isolation,
  limits: defaultLimits,
}

async function createDirectory(): Promise<string> {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  await createOutputPipes(directory)
  return directory
}

it('a program that the system cannot start is a failure of the run, and of nothing else', async () => {
  const directory = await createDirectory()
  const launch = { argv: ['there-is-no-such-program'], hasPidNamespace: true }
  await expect(runCommand(launch, spec, { directory, cwd: directory })).rejects.toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/could not be started: spawn there-is-no-such-program ENOENT/),
  })
})

it('a run whose input cannot be stored closes its pipes', async () => {
  const directory = await createDirectory()
  mkdirSync(join(directory, 'stdin'))
  const countOpen = () => readdirSync('/proc/self/fd').length
  const before = countOpen()
  const launch = { argv: ['true'], hasPidNamespace: true }
  const run = runCommand(launch, { ...spec, stdin: 'input' }, { directory, cwd: directory })
  await expect(run).rejects.toMatchObject({ code: 'EISDIR' })
  await vi.waitFor(() => expect(countOpen()).toBeLessThanOrEqual(before))
})
