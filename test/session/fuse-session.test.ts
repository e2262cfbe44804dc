import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type Home, openHome } from '../../src/backends/vault/index.ts'
import { Boundary, type BoundaryRunOptions, type RunReport } from '../../src/boundary/index.ts'
import {
  type ChangedFiles,
  Checkouts,
  type ExecutionRequestInput,
  openExecution,
  recoverSessions,
  VaultWorkspace,
} from '../../src/workspace/index.ts'
import { defaultLimits } from '../../src/workspace/isolation/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { programFile } from '../support/program-file.ts'

const env = { PATH: '/usr/bin:/bin' }

/** A home on disk with a vault `base`. */
class Scene {
  readonly path: string
  readonly home: Home
  readonly boundary: Boundary

  private constructor(path: string, home: Home, boundary: Boundary) {
    this.path = path
    this.home = home
    this.boundary = boundary
  }

  static async make(): Promise<Scene> {
    const path = mkdtempSync(join(tmpdir(), 'coppice-live-'))
    const home = await openHome({ path })
    onTestFinished(async () => {
      await home.close()
      rmSync(path, { recursive: true, force: true })
    })
    await (await home.createVault('base')).write('/a', 'one\n')
    return new Scene(path, home, await Boundary.open(home))
  }

  run(
    shell: string,
    request: Partial<ExecutionRequestInput> = {},
    options: BoundaryRunOptions = {},
  ): Promise<RunReport> {
    const plain = { vault: 'base', command: { shell }, session: 'fuse', isolation: 'none' } as const
    return this.boundary.run({ ...plain, ...request }, { env, ...options })
  }

  async read(vault: string, path: string): Promise<string> {
    const content = (await this.home.vault(vault)).read(path)
    return Buffer.concat(await Array.fromAsync(content)).toString()
  }

  /** Whatever a session could have left: vaults, directories, and mounts that any process sees. */
  async leftovers(): Promise<string[]> {
    const vaults = (await this.home.vaults()).filter((name) => name.startsWith('session-'))
    const sessions = join(this.path, 'sessions')
    return [...vaults, ...(existsSync(sessions) ? readdirSync(sessions) : []), ...this.mounts()]
  }

  mounts(): string[] {
    const tables = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
    return tables.filter((pid) => mountsOf(pid).includes(`${this.path}/sessions/`))
  }
}

function mountsOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/mountinfo`, 'utf8')
  } catch {
    // The process is gone.
    return ''
  }
}

describe.skipIf(whyNoMount() !== undefined)('a vault that is served to a command', () => {
  it('has the changes in a fork, and nothing is left of the session', async () => {
    const scene = await Scene.make()
    const { result, fork } = await scene.run('echo two >> a; echo new > b; mkfifo p; pwd')
    expect(result).toMatchObject({
      session: 'fuse',
      exit_code: 0,
      stdout: `${result.mountpoint}\n`,
      changed_files: { added: ['/b'], modified: ['/a'], deleted: [] },
    })
    expect(fork).toBe('base-1')
    expect(await scene.read('base', '/a')).toBe('one\n')
    expect(await scene.read('base-1', '/a')).toBe('one\ntwo\n')
    expect(await scene.leftovers()).toEqual([])
  })

  it('goes on in a fork, beside what others did there meanwhile', async () => {
    const scene = await Scene.make()
    await scene.run('echo two >> a', {}, { fork: 'task' })
    const run = scene.run(
      'echo ready; while ! [ -s a ]; do :; done; rm a; echo three > b',
      {},
      {
        fork: 'task',
        onOutput: () => void scene.home.vault('task').then((task) => task.write('/c', 'theirs')),
      },
    )
    expect((await run).result.changed_files).toMatchObject({ deleted: ['/a'] })
    expect(await scene.read('task', '/b')).toBe('three\n')
    expect(await scene.read('task', '/c')).toBe('theirs')
  })

  it('stays for many commands, and the fork has what all of them left', async () => {
    const scene = await Scene.make()
    const checkouts = new Checkouts(scene.home, join(scene.path, 'checkouts'))
    const choice = { vault: 'base', newFork: { name: 'task' }, checkouts }
    const open = async () => new VaultWorkspace(scene.home, choice)
    await using execution = openExecution({ open, sessions: join(scene.path, 'sessions'), env })
    const changed: ChangedFiles[] = []
    for (const shell of ['echo 1 > b; rm a', 'mkdir d; mv b d/c', 'cat d/c; rm -r d; echo 3 > a']) {
      const request = { vault: 'base', command: { shell }, session: 'fuse', isolation: 'none' } as const
      changed.push((await execution.run(request)).changed_files)
    }
    expect(changed).toEqual([
      { added: ['/b'], modified: [], deleted: ['/a'] },
      { added: ['/d/c'], modified: [], deleted: ['/b'] },
      { added: ['/a'], modified: [], deleted: ['/d/c'] },
    ])
    expect(await scene.read('task', '/a')).toBe('3\n')
  })

  it('does not grow beyond what a command may write', async () => {
    const scene = await Scene.make()
    const limits = { ...defaultLimits, diskBytes: 2 ** 20 }
    const { result } = await scene.run(
      'for n in 1 2 3; do head -c 500000 /dev/zero > $n; done',
      {},
      { limits },
    )
    expect(result.stderr).toMatch(/No space left/)
    expect(result.changed_files.added.length).toBeGreaterThan(1)
  })

  it('leaves nothing of a command that changes nothing', async () => {
    const scene = await Scene.make()
    expect((await scene.run('cat a')).fork).toBeNull()
    expect(await scene.home.vaults()).toEqual(['base', 'boundary'])
  })

  it('leaves nothing of the session after a timeout, an abort and a refusal', async () => {
    const scene = await Scene.make()
    const late = await scene.run('echo new > b; sleep 60', { timeoutMs: 1000 })
    expect(late.result).toMatchObject({ timed_out: true, changed_files: { added: ['/b'] } })
    const stop = new AbortController()
    const onOutput = () => stop.abort()
    const stopped = scene.run('echo started; sleep 60', {}, { signal: stop.signal, onOutput })
    expect((await stopped).result).toMatchObject({ exit_code: null, stdout: 'started\n' })
    await expect(scene.run('cat ../../../store.db')).rejects.toMatchObject({ code: 'EACCES' })
    expect(await scene.leftovers()).toEqual([])
  })

  it('is gone with its server when everything is killed, and leaves nothing once its changes are stored', async () => {
    const scene = await Scene.make()
    const script = programFile('boundary-process')
    const args = [script, scene.path, 'base', 'echo new > b; echo started; sleep 60']
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
    await once(child.stdout, 'data')
    child.kill('SIGKILL')
    await once(child, 'exit')
    await vi.waitFor(() => expect(scene.mounts()).toEqual([]), 30_000)
    expect(await scene.leftovers()).not.toEqual([])
    const next = await Boundary.open(scene.home)
    expect(await recoverSessions(scene.home, scene.path)).toMatchObject([{ fork: 'base-1', changes: 1 }])
    await next.run({ vault: 'base', command: { argv: ['true'] }, session: 'dir' }, { env })
    expect(await scene.leftovers()).toEqual([])
    expect((await scene.home.fsck()).damaged).toEqual([])
  })

  it('keeps every file that a killed command had written, for a home that was open all the time', async () => {
    const scene = await Scene.make()
    const script = programFile('boundary-process')
    const line = 'i=0; while :; do i=$((i+1)); echo $i > $i; echo $i; done'
    const child = spawn(process.execPath, [script, scene.path, 'base', line], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output: Buffer[] = []
    child.stdout.on('data', (chunk) => {
      output.push(chunk)
      if (Buffer.concat(output).includes('\n200\n')) child.kill('SIGKILL')
    })
    await once(child, 'close')
    await vi.waitFor(() => expect(scene.mounts()).toEqual([]), 30_000)
    const numbers = Buffer.concat(output).toString().split('\n').slice(0, -1).map(Number)
    const [recovered] = await recoverSessions(scene.home, scene.path)
    expect(recovered?.changes).toBeGreaterThanOrEqual(numbers.length)
    for (const number of numbers) expect(await scene.read('base-1', `/${number}`)).toBe(`${number}\n`)
  })

  it('is refused for a directory, which is no vault', async () => {
    const scene = await Scene.make()
    await expect(scene.run('true', { vault: scene.path })).rejects.toMatchObject({ code: 'ENOTSUP' })
  })
})
