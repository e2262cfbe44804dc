import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { sweepStaleMounts } from '../../src/fuse/index.ts'
import { root } from '../support/run-node.ts'
import { whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const reason = whyNoMount()

describe.skipIf(reason !== undefined)(`a server that is killed${reason ? `: ${reason}` : ''}`, () => {
  it('lets go of whoever waits for it, also while it tells the kernel of a change they are in the way of', async () => {
    const directory = mountPoint()
    const script = join(root, 'test/fuse/serve-unanswered.ts')
    const server = spawn(process.execPath, ['--conditions=coppice-source', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    await once(server.stdout, 'data')
    const program = spawn('rm', [join(directory, 'file')], { stdio: 'ignore' })
    await vi.waitFor(() => expect(states(server.pid)).toContain('D'), 30_000)
    server.kill('SIGKILL')
    await vi.waitFor(() => expect(program.exitCode).toBe(1), 30_000)
    await vi.waitFor(() => expect(server.signalCode).toBe('SIGKILL'), 30_000)
    await sweepStaleMounts()
    expect(readdirSync(directory)).toEqual([])
  })
})

it.skipIf(reason !== undefined)('whoever sweeps comes to an end while a server does not answer', async () => {
  const [directory, home] = [mountPoint(), mountPoint()]
  await using server = await ServerProcess.start(home, directory)
  using _silence = server.silenced()
  const program = `import { sweepStaleMounts } from ${JSON.stringify(join(root, 'src/fuse/index.ts'))}
    await sweepStaleMounts()`
  const flags = ['--input-type=module', '--conditions=coppice-source']
  const sweeping = spawn(process.execPath, [...flags, '--eval', program], { stdio: 'ignore' })
  await vi.waitFor(() => expect(sweeping.exitCode).toBe(0), 60_000)
})

/** A directory that is gone after the test, with what was mounted there. */
function mountPoint(): string {
  const directory = mkdtempSync(join(tmpdir(), 'coppice-killed-'))
  onTestFinished(async () => {
    abort(directory)
    await sweepStaleMounts()
    rmSync(directory, { recursive: true, force: true })
  })
  return directory
}

/** What each thread of a process does, by its letter; D waits for the kernel, and for nobody else. */
function states(pid = 0): (string | undefined)[] {
  return readdirSync(`/proc/${pid}/task`).map(
    (thread) => /\) (\w)/.exec(readFileSync(`/proc/${pid}/task/${thread}/stat`, 'utf8'))?.[1],
  )
}

/** If it failed, nobody else is to wait for this mount. */
function abort(directory: string): void {
  const line = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .find((mount) => mount.includes(` ${directory} `))
  const connection = line?.split(' ')[2]?.split(':')[1]
  if (connection !== undefined) writeFileSync(`/sys/fs/fuse/connections/${connection}/abort`, '1')
}
