import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, vi } from 'vitest'
import { sweepStale } from '../../src/fuse/index.ts'
import { root } from '../support/run-node.ts'
import { whyNoMount } from './mounted-vault.ts'

const reason = whyNoMount()

describe.skipIf(reason !== undefined)(`a server that is killed${reason ? `: ${reason}` : ''}`, () => {
  it('lets go of whoever waits for it, also while it tells the kernel of a change they are in the way of', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'coppice-killed-'))
    const script = join(root, 'test/fuse/serve-unanswered.ts')
    const server = spawn(process.execPath, ['--conditions=coppice-source', script, directory], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, NODE_OPTIONS: '' },
    })
    try {
      await once(server.stdout, 'data')
      const program = spawn('rm', [join(directory, 'file')], { stdio: 'ignore' })
      const ended = once(program, 'exit')
      await vi.waitFor(() => expect(states(server.pid)).toContain('D'), 30_000)
      server.kill('SIGKILL')
      expect(await ended).toEqual([1, null])
      await once(server, 'exit')
      await sweepStale()
      expect(readdirSync(directory)).toEqual([])
    } finally {
      abort(directory)
      rmSync(directory, { recursive: true, force: true })
    }
  })
})

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
