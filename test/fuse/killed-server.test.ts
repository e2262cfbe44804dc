import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { createFusermountCommand, DEVICE_DESCRIPTOR, sweepStaleMounts } from '../../src/fuse/index.ts'
import { programFile } from '../support/program-file.ts'
import { root } from '../support/run-node.ts'
import { whyNotNobody } from '../support/tools.ts'
import { whyNoMount } from './mounted-vault.ts'
import { ServerProcess } from './server-process.ts'

const NOBODY = 65_534
const asNobody = ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
const env = { ...process.env, NODE_OPTIONS: '' }
const reason = whyNoMount()

/** Arguments of Node for a server that leaves a request without a reply. */
const serve = (directory: string) => [programFile('serve-unanswered'), directory]

describe.skipIf(reason !== undefined)(`a server that is killed${reason ? `: ${reason}` : ''}`, () => {
  it('releases the programs that wait for it, also during a notification to the kernel that waits for them', async () => {
    const directory = mountPoint()
    const server = spawn(process.execPath, serve(directory), { stdio: ['ignore', 'pipe', 'inherit'], env })
    await once(server.stdout, 'data')
    const program = spawn('rm', [join(directory, 'file')], { stdio: 'ignore' })
    await vi.waitFor(() => expect(states(server.pid)).toContain('D'), 30_000)
    server.kill('SIGKILL')
    await vi.waitFor(() => expect(program.exitCode).toBe(1), 30_000)
    await vi.waitFor(() => expect(server.signalCode).toBe('SIGKILL'), 30_000)
    await sweepStaleMounts()
    expect(readdirSync(directory)).toEqual([])
  })

  it.skipIf(whyNotNobody() !== undefined)(
    'releases them also for a user who cannot abort the connection',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'coppice-killed-'))
      onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
      chownSync(directory, NOBODY, NOBODY)
      const served = [process.execPath, ...serve(directory), String(DEVICE_DESCRIPTOR)]
      const mounting = createFusermountCommand(directory, { source: 'coppice' }, served)
      // Without fusectl, only root could end the connection.
      const hidden = 'umount /sys/fs/fuse/connections'
      const device =
        'mount -t tmpfs t /mnt && mknod -m 666 /mnt/fuse c 10 229 && mount --bind /mnt/fuse /dev/fuse'
      const script = `{ ${hidden}; ${device}; } 2> /dev/null; exec "$@"`
      const words = ['--mount', 'sh', '-c', script, 'sh', ...asNobody, ...mounting]
      const path = { ...env, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' }
      const server = spawn('unshare', words, { stdio: ['ignore', 'pipe', 'inherit'], env: path })
      const [said] = await Promise.race([once(server.stdout, 'data'), once(server, 'exit')])
      expect(String(said)).toBe('mounted\n')
      const connection = connectionOf(directory, server.pid)
      onTestFinished(() => abort(connection))
      const enter = [`--mount=/proc/${server.pid}/ns/mnt`, ...asNobody]
      const start = (...argv: string[]) => spawn('nsenter', [...enter, ...argv], { stdio: 'ignore' })
      const programs = [start('rm', join(directory, 'file'))]
      await vi.waitFor(() => expect(states(server.pid)).toContain('D'), 30_000)
      // The server has not read the requests of these when it is killed.
      server.kill('SIGSTOP')
      await vi.waitFor(() => expect(states(server.pid).join('')).toMatch(/^[TD]+$/), 30_000)
      for (let count = 0; count < 10; count++) programs.push(start('stat', '-f', directory))
      for (const { pid } of programs) await vi.waitFor(() => expect(waitsForReply(pid)).toBe(true), 30_000)
      server.kill('SIGKILL')
      for (const program of programs) await vi.waitFor(() => expect(program.exitCode).toBe(1), 60_000)
      await vi.waitFor(() => expect(server.signalCode).toBe('SIGKILL'), 60_000)
    },
  )
})

it.skipIf(reason !== undefined)('a sweep ends while a server does not answer', async () => {
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
    abort(connectionOf(directory))
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

/** True if a process waits for the reply of a server. */
function waitsForReply(pid = 0): boolean {
  return readFileSync(`/proc/${pid}/wchan`, 'utf8') === 'request_wait_answer'
}

/** Aborts a connection that a failed test left, also where fusectl is not mounted; it may have ended. */
function abort(connection = ''): void {
  const script = 'mount -t fusectl f /sys/fs/fuse/connections && echo 1 > /sys/fs/fuse/connections/$0/abort'
  spawnSync('unshare', ['--mount', 'sh', '-c', script, connection], { stdio: 'ignore' })
}

/** Finds the connection of a mount that a process sees. */
function connectionOf(directory: string, pid: number | 'self' = 'self'): string | undefined {
  const line = readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
    .split('\n')
    .find((mount) => mount.includes(` ${directory} `))
  return line?.split(' ')[2]?.split(':')[1]
}
