import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { defaultLimits } from '../../isolation/index.ts'
import { createOutputPipes } from './output-pipe.ts'
import { runCommand } from './run-command.ts'

it('a program that the system cannot start is a failure of the run, and of nothing else', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  await createOutputPipes(directory)
  const launch = { argv: ['there-is-no-such-program'], hasPidNamespace: true }
  const isolation = { level: 'none', network: true } as const
  const spec = {
    command: { argv: ['true'] },
    cwd: '/',
    env: {},
    timeoutMs: 0,
    isolation,
    limits: defaultLimits,
  }
  await expect(runCommand(launch, spec, { directory, cwd: directory })).rejects.toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/could not be started: spawn there-is-no-such-program ENOENT/),
  })
})
