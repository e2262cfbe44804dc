import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { defaultLimits } from '../../isolation/index.ts'
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

function createDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-start-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

it.each([true, false])(
  'a program that the system cannot start is a failure of the run, and of nothing else (its pipes are its own: %s)',
  async (createsPipes) => {
    const directory = createDirectory()
    const launch = { argv: ['there-is-no-such-program'], createsPipes, hasPidNamespace: true }
    await expect(runCommand(launch, spec, { directory, cwd: directory })).rejects.toMatchObject({
      code: 'EIO',
      message: expect.stringMatching(/could not be started: spawn there-is-no-such-program ENOENT/),
    })
  },
)

it('a run whose input cannot be stored closes its pipes', async () => {
  const directory = createDirectory()
  mkdirSync(join(directory, 'stdin'))
  const countOpen = () => readdirSync('/proc/self/fd').length
  const before = countOpen()
  const launch = { argv: ['true'], createsPipes: false, hasPidNamespace: true }
  const run = runCommand(launch, { ...spec, stdin: 'input' }, { directory, cwd: directory })
  await expect(run).rejects.toMatchObject({ code: 'EISDIR' })
  await vi.waitFor(() => expect(countOpen()).toBeLessThanOrEqual(before))
})

it('a launch that ends before it has pipes reports what it wrote', async () => {
  const directory = createDirectory()
  const launch = {
    argv: ['sh', '-c', 'echo no space >&3; exit 1'],
    createsPipes: true,
    hasPidNamespace: true,
  }
  await expect(runCommand(launch, spec, { directory, cwd: directory })).rejects.toMatchObject({
    code: 'EIO',
    message: expect.stringMatching(/could not be started: no space/),
  })
})

it('a launch that is killed while it waits for its pipes ends the run', async () => {
  const directory = createDirectory()
  const script = 'mkfifo stdout stderr; echo pipes >&3; kill -9 $$'
  const launch = { argv: ['sh', '-c', script], createsPipes: true, hasPidNamespace: true }
  const countOpen = () => readdirSync('/proc/self/fd').length
  const before = countOpen()
  await expect(runCommand(launch, spec, { directory, cwd: directory })).rejects.toMatchObject({ code: 'EIO' })
  await vi.waitFor(() => expect(countOpen()).toBeLessThanOrEqual(before))
})
