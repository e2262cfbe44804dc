import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { type Home, openHome } from '../../backends/vault/index.ts'
import { readText, VfsError } from '../../vfs/index.ts'
import { Checkouts } from '../checkout/index.ts'
import { probeNamespaces } from '../isolation/index.ts'
import { LinkedDirectory } from '../link/index.ts'
import type { ExecutionRequestInput, ExecutionResult } from '../policy/index.ts'
import {
  Approvals,
  type ExecuteOptions,
  type ExecutionWorkspace,
  execute,
  executionSteps,
  FileJournal,
  LinkedWorkspace,
  openExecution,
  VaultWorkspace,
} from './index.ts'

const { privilege } = await probeNamespaces()

/** A project, a home, and a boundary between them. */
class Scene {
  readonly home: Home
  readonly project: string
  readonly sessions: string
  readonly approvals: Approvals
  readonly options: ExecuteOptions
  readonly #journal: FileJournal

  private constructor(home: Home, scratch: string, records: ConstructorParameters<typeof FileJournal>[0]) {
    this.home = home
    this.project = join(scratch, 'project')
    this.sessions = join(scratch, 'sessions')
    mkdirSync(this.project)
    writeFileSync(join(this.project, 'a'), 'one\n')
    this.approvals = new Approvals(records)
    this.#journal = new FileJournal(records)
    this.options = {
      open: async () => new LinkedWorkspace(new LinkedDirectory(home, this.project)),
      sessions: this.sessions,
      journal: this.#journal,
      approvals: this.approvals,
      env: { PATH: process.env['PATH'] ?? '' },
    }
  }

  static async make(): Promise<Scene> {
    const scratch = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-execute-')))
    const home = await openHome()
    onTestFinished(async () => {
      await home.close()
      rmSync(scratch, { recursive: true, force: true })
    })
    return new Scene(home, scratch, await home.createVault('records'))
  }

  run(
    request: Partial<ExecutionRequestInput>,
    options: Partial<ExecuteOptions> = {},
  ): Promise<ExecutionResult> {
    const plain = {
      vault: this.project,
      command: { argv: ['true'] },
      session: 'dir',
      isolation: 'none',
    } as const
    return execute({ ...plain, ...request }, { ...this.options, ...options })
  }

  /** Returns the events of the journal. */
  async journal(): Promise<string[]> {
    const records = await this.home.vault('records')
    const lines: string[] = []
    for await (const { path } of records.walk('/journal')) {
      const text = Buffer.concat(await Array.fromAsync(records.read(path))).toString()
      lines.push(...text.trim().split('\n'))
    }
    return lines.map((line) => JSON.parse(line).event)
  }

  /** Lists everything that could have been left behind. */
  async leftovers(): Promise<string[]> {
    const vaults = (await this.home.vaults()).filter((name) => name !== 'records')
    return [...vaults, ...(existsSync(this.sessions) ? readdirSync(this.sessions) : [])]
  }
}

/** Reads the file of the project as it was at a checkpoint of a vault. */
async function readAt(home: Home, vault: string, checkpoint: string | null): Promise<string> {
  return readText(await home.vault(vault), `/.coppice/at/${checkpoint}/a`)
}

const SCRIPT = { shell: 'echo said; echo two >> a; echo new > b' }

describe('an execution', () => {
  it('returns output and changes of the command, and leaves the directory unchanged', async () => {
    const scene = await Scene.make()
    const result = await scene.run({ command: SCRIPT })
    expect(result).toMatchObject({
      vault: scene.project,
      exit_code: 0,
      stdout: 'said\n',
      changed_files: { added: ['/b'], modified: ['/a'], deleted: [] },
      decision: { action: 'allow_with_checkpoint' },
      checkpoint: null,
      timed_out: false,
    })
    expect(readFileSync(join(scene.project, 'a'), 'utf8')).toBe('one\n')
    expect(await scene.journal()).toEqual(['requested', 'completed'])
  })

  it('passes the ten steps in order, each an event with the same id', async () => {
    const scene = await Scene.make()
    const seen: { step: string; id: string }[] = []
    const listen = (event: unknown) => {
      if (typeof event === 'object' && event !== null && 'step' in event && 'id' in event)
        seen.push({ step: String(event.step), id: String(event.id) })
    }
    for (const step of executionSteps) subscribe(`tracing:coppice:exec:${step}:start`, listen)
    onTestFinished(() => {
      for (const step of executionSteps) unsubscribe(`tracing:coppice:exec:${step}:start`, listen)
    })
    await scene.run({})
    expect(seen.map(({ step }) => step)).toEqual([...executionSteps])
    expect(new Set(seen.map(({ id }) => id)).size).toBe(1)
  })

  it('takes a checkpoint of a fork before a command that changes something', async () => {
    const scene = await Scene.make()
    const link = new LinkedDirectory(scene.home, scene.project)
    await scene.run({ command: SCRIPT })
    const fork = await link.getFork()
    const open = async () => new LinkedWorkspace(link, { fork })
    const result = await scene.run({ command: { argv: ['rm', 'b'] } }, { open })
    const checkpoints = await (await scene.home.vault(fork.name)).checkpoints()
    expect(checkpoints.map(({ name }) => name)).toEqual([result.checkpoint])
    expect(result.changed_files).toEqual({ added: [], modified: [], deleted: ['/b'] })
    expect((await scene.run({ command: { argv: ['cat', 'a'] } }, { open })).checkpoint).toBeNull()
    expect((await scene.run({ command: SCRIPT, checkpoint: 'never' }, { open })).checkpoint).toBeNull()
  })

  it('takes a checkpoint of the beginning of a new fork if one is always wanted', async () => {
    const scene = await Scene.make()
    const { checkpoint } = await scene.run({ command: SCRIPT, checkpoint: 'always' })
    const { name } = await new LinkedDirectory(scene.home, scene.project).getFork()
    expect(await readAt(scene.home, name, checkpoint)).toBe('one\n')
  })

  it('takes one of a new fork of a vault too', async () => {
    const scene = await Scene.make()
    await (await scene.home.createVault('base')).write('/a', 'one\n')
    const workspace = new VaultWorkspace(scene.home, {
      vault: 'base',
      newFork: {},
      checkouts: new Checkouts(scene.home, join(scene.sessions, 'checkouts')),
    })
    const open = async () => workspace
    const { checkpoint } = await scene.run({ command: SCRIPT, checkpoint: 'always' }, { open })
    expect(await readAt(scene.home, workspace.fork ?? '', checkpoint)).toBe('one\n')
  })

  it('refuses a mountpoint at which the command would not see its files', async () => {
    const scene = await Scene.make()
    const request = { command: { shell: 'cat /etc/passwd' } }
    await expect(scene.run({ ...request, mountpoint: '/etc' })).rejects.toMatchObject({ code: 'ENOTSUP' })
    const result = await scene.run({ command: { argv: ['true'] }, mountpoint: scene.project })
    expect(result).toMatchObject({ exit_code: 0 })
  })

  it('reports truncated output, and why a command was stopped', async () => {
    const scene = await Scene.make()
    const command = { shell: 'echo 0123456789; exec sleep 1000' }
    const limits = { outputBytes: 4, scratchBytes: 4096 }
    const result = await scene.run({ command, timeoutMs: 200 }, { limits })
    expect(result).toMatchObject({ stdout: '0123', truncated: true, stopped: 'timeout', exit_code: null })
    const whole = await scene.run({ command: { shell: 'echo 012' } }, { limits })
    expect(Object.keys(whole)).not.toContain('truncated')
    expect(Object.keys(whole)).not.toContain('stopped')
  })

  it('closes the output of a command without a reader, and keeps its changes', async () => {
    const scene = await Scene.make()
    const request = { command: { shell: 'yes; echo $? > b' }, timeoutMs: 10_000 }
    const result = await scene.run(request, { isHeard: (stream) => stream !== 'stdout' })
    expect(result).toMatchObject({ exit_code: 0, changed_files: { added: ['/b'] } })
    expect(result.timed_out).toBe(false)
  })

  it('preserves concurrent changes of another command in the same fork', async () => {
    const scene = await Scene.make()
    await scene.run({ command: { shell: 'echo 1 > taken' } })
    const link = new LinkedDirectory(scene.home, scene.project)
    const workspace = async () => new LinkedWorkspace(link, { fork: await link.getFork() })
    const inFork = (shell: string, open = workspace) => scene.run({ command: { shell } }, { open })
    const late = async () => {
      const slow = await workspace()
      const collect = slow.collect.bind(slow)
      slow.collect = async (collected) => {
        await inFork('echo 2 > other')
        return collect(collected)
      }
      return slow
    }
    const { changed_files } = await inFork('echo 2 > own; rm taken', late)
    expect(changed_files).toEqual({ added: ['/own'], modified: [], deleted: ['/taken'] })
    const kept = (await Array.fromAsync(link.diff(await link.getFork()))).map(({ path }) => path)
    expect(kept).toEqual(['/other', '/own'])
  })

  it('preserves changes of another command between those of an open execution', async () => {
    const scene = await Scene.make()
    const plain = { vault: scene.project, session: 'dir', isolation: 'none' } as const
    await using execution = openExecution(scene.options)
    await execution.run({ ...plain, command: { shell: 'echo 1 > b; echo 1 > c' } })
    const link = new LinkedDirectory(scene.home, scene.project)
    const open = async () => new LinkedWorkspace(link, { fork: await link.getFork() })
    await scene.run({ command: { shell: 'echo 2 > b; echo 2 >> c; rm a' } }, { open })
    const { stdout } = await execution.run({ ...plain, command: { shell: 'cat b; sed -i 1i0 c' } })
    expect(stdout).toBe('1\n')
    const { after } = await link.openTrees(await link.getFork())
    expect(await readText(after, '/b')).toBe('2\n')
    expect(await readText(after, '/c')).toBe('0\n1\n2\n')
    expect(await Array.fromAsync(link.diff(await link.getFork()), ({ path }) => path)).toContain('/a')
  })

  it('stores the changes under another name if a vault took the requested one meanwhile', async () => {
    const scene = await Scene.make()
    await scene.home.createVault('base')
    const link = new LinkedDirectory(scene.home, scene.project)
    const checkouts = new Checkouts(scene.home, join(scene.sessions, 'checkouts'))
    const newFork = { name: 'task' }
    for (const workspace of [
      new VaultWorkspace(scene.home, { vault: 'base', newFork, checkouts }),
      new VaultWorkspace(scene.home, { vault: 'base', newFork, checkouts }),
      new LinkedWorkspace(link, newFork),
    ]) {
      await scene.run({ command: { shell: 'echo 1 > b' } }, { open: async () => workspace })
    }
    expect(await scene.home.vaults()).toEqual(expect.arrayContaining(['task', 'task-1', 'task-2']))
  })

  it('takes a checkpoint of a fork that another command created meanwhile, if one is always wanted', async () => {
    const scene = await Scene.make()
    const link = new LinkedDirectory(scene.home, scene.project)
    const [first, second] = [
      new LinkedWorkspace(link, { name: 'task' }),
      new LinkedWorkspace(link, { name: 'task' }),
    ]
    await scene.run({ command: { shell: 'echo 1 > other' } }, { open: async () => first })
    const request = { command: SCRIPT, checkpoint: 'always' } as const
    const { checkpoint, changed_files } = await scene.run(request, { open: async () => second })
    expect((await link.listForks()).map(({ name }) => name)).toEqual(['task'])
    expect(await readAt(scene.home, 'task', checkpoint)).toBe('one\n')
    expect(changed_files.added).not.toContain('/other')
    expect(await readText(await scene.home.vault('task'), '/other')).toBe('1\n')
  })

  it('refuses an invalid request before anything else', async () => {
    const scene = await Scene.make()
    await expect(scene.run({ cwd: '../up' })).rejects.toMatchObject({ code: 'EINVAL' })
    expect(await scene.journal()).toEqual([])
  })

  it('analyses a long command without blocking the process', async () => {
    const scene = await Scene.make()
    let turns = 0
    const clock = setInterval(() => turns++, 1)
    onTestFinished(() => clearInterval(clock))
    const shell = Array.from({ length: 15_000 }, () => 'ls').join('|')
    await expect(scene.run({ command: { shell } })).rejects.toMatchObject({
      code: 'EACCES',
      detail: expect.stringContaining('more programs than can be analysed'),
    })
    expect(turns).toBeGreaterThan(10)
    const long = await scene.run({ command: { shell: `echo ${'a '.repeat(5000)}` } })
    expect(long.decision.action).toBe('allow')
  })

  it('leaves only a journal line of a denied command', async () => {
    const scene = await Scene.make()
    const denied = scene.run({ command: { argv: ['cat', '/etc/shadow'] } })
    await expect(denied).rejects.toMatchObject({ code: 'EACCES', decision: { action: 'deny' } })
    expect(await scene.leftovers()).toEqual([])
    expect(await scene.journal()).toEqual(['refused'])
  })

  it('refuses a path into the directory itself if the session is a copy', async () => {
    const scene = await Scene.make()
    const outside = scene.run({ command: { argv: ['tee', join(scene.project, 'a')] } })
    await expect(outside).rejects.toMatchObject({ code: 'EACCES' })
    expect(await scene.leftovers()).toEqual([])
  })

  it('asks nobody about such a path once the session is open', async () => {
    const scene = await Scene.make()
    const command = { argv: ['cat', join(scene.project, 'a')] }
    const late = scene.run({ command }, { asksToReadOutside: true })
    await expect(late).rejects.toMatchObject({ decision: { action: 'deny' }, approval: undefined })
    expect(await scene.approvals.list()).toEqual([])
  })

  it.skipIf(privilege === 'none')('lets an isolated command use its private directories', async () => {
    const scene = await Scene.make()
    const file = join('/tmp', `coppice-private-${process.pid}`)
    const command = { shell: `echo x > ${file} && cat ${file}` }
    for (const isolation of ['auto', 'strict'] as const)
      expect(await scene.run({ command, isolation })).toMatchObject({ stdout: 'x\n', exit_code: 0 })
    expect(existsSync(file)).toBe(false)
    await expect(scene.run({ command, isolation: 'none' })).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('refuses paths of the project and of the home in a private directory', async () => {
    const scene = await Scene.make()
    const userHome = '/tmp/home-of-the-user'
    for (const path of [join(scene.project, 'a'), join(userHome, 'x')]) {
      const request = { command: { argv: ['tee', path] }, isolation: 'auto' } as const
      await expect(scene.run(request, { userHome })).rejects.toMatchObject({ code: 'EACCES' })
    }
  })

  it('sets the session aside and records a failure to collect', async () => {
    const scene = await Scene.make()
    const workspace = new LinkedWorkspace(new LinkedDirectory(scene.home, scene.project))
    workspace.collect = async () => {
      throw new Error('the disk is full')
    }
    await expect(scene.run({ command: SCRIPT }, { open: async () => workspace })).rejects.toThrow('full')
    const [left = '', ...others] = await scene.leftovers()
    expect(readdirSync(join(scene.sessions, left))).toEqual(expect.arrayContaining(['fork.json', 'tree']))
    expect(others).toEqual([])
    expect(await scene.journal()).toEqual(['requested', 'failed'])
  })

  it('reports that changes are lost, even if the journal cannot be written', async () => {
    const scene = await Scene.make()
    const linked = new LinkedWorkspace(new LinkedDirectory(scene.home, scene.project))
    const full = new VfsError('ENOSPC', '/', { op: 'commit', detail: 'the store could not commit: full' })
    // It does not describe its start, so no other process can store the changes.
    const workspace: ExecutionWorkspace = {
      directory: linked.directory,
      baseline: () => linked.baseline(),
      checkpoint: async () => null,
      collect: () => Promise.reject(full),
    }
    const journal = {
      append: ({ event }: { event: string }) =>
        event === 'failed' ? Promise.reject(full) : Promise.resolve(),
    }
    const run = scene.run({ command: SCRIPT }, { open: async () => workspace, journal })
    await expect(run).rejects.toMatchObject({
      code: 'ENOSPC',
      path: scene.project,
      detail: 'the changes of the command could not be kept: the store could not commit: full',
    })
  })

  it.each(['none', 'auto'] as const)(
    'starts no command whose request cannot be recorded, with isolation %s',
    async (isolation) => {
      const scene = await Scene.make()
      const full = new VfsError('ENOSPC', '/', { op: 'commit', detail: 'the store could not commit: full' })
      const output: string[] = []
      const run = scene.run(
        { command: SCRIPT, isolation },
        {
          journal: { append: () => Promise.reject(full) },
          onOutput: (_stream, chunk) => output.push(Buffer.from(chunk).toString()),
        },
      )
      await expect(run).rejects.toBe(full)
      expect(output).toEqual([])
      expect(await scene.leftovers()).toEqual([])
    },
  )

  it('keeps nothing of a command that is cancelled before its session', async () => {
    const scene = await Scene.make()
    await expect(scene.run({ command: SCRIPT }, { signal: AbortSignal.abort() })).rejects.toThrow()
    expect(await scene.leftovers()).toEqual([])
  })

  it('runs in a vault, and stores changes in a fork of it', async () => {
    const scene = await Scene.make()
    const base = await scene.home.createVault('base')
    await base.write('/a', 'one\n')
    const checkouts = new Checkouts(scene.home, join(scene.sessions, '../checkouts'))
    const choice = { vault: 'base', newFork: { name: 'task' }, checkouts }
    const open = async () => new VaultWorkspace(scene.home, choice)
    const { changed_files } = await scene.run({ vault: 'base', command: SCRIPT }, { open })
    expect(changed_files).toEqual({ added: ['/b'], modified: ['/a'], deleted: [] })
    expect(await Array.fromAsync(base.diff({ vault: 'task' }))).toHaveLength(2)
    expect(readdirSync(scene.sessions)).toEqual([])
  })
})

describe.each(['a directory', 'a vault'])('an execution of %s that is kept open', (what) => {
  /** Opens one that keeps its changes in a fork, and closes it with the test. */
  async function opened(): Promise<{ scene: Scene; run: Scene['run']; end: () => Promise<void> }> {
    const scene = await Scene.make()
    const { home, options, project, sessions } = scene
    await (await home.createVault('base')).write('/a', 'one\n')
    const checkouts = new Checkouts(home, join(sessions, '../checkouts'))
    const inVault = async () =>
      new VaultWorkspace(home, { vault: 'base', newFork: { name: 'task' }, checkouts })
    const execution = openExecution(what === 'a vault' ? { ...options, open: inVault } : options)
    const end = async () => {
      await execution[Symbol.asyncDispose]()
    }
    onTestFinished(end)
    const plain = { vault: project, command: { shell: 'true' }, session: 'dir', isolation: 'none' } as const
    return { scene, end, run: (request) => execution.run({ ...plain, ...request }) }
  }

  it('shows each command the files of the previous ones, and reports the changes of each', async () => {
    const { scene, run } = await opened()
    const lines = ['echo 1 > b; rm a', 'mkdir d; mv b d/c', 'cat d/c; rm -r d; echo 3 > a', 'ls']
    const results: ExecutionResult[] = []
    for (const shell of lines) results.push(await run({ command: { shell } }))
    expect(results.map(({ changed_files }) => changed_files)).toEqual([
      { added: ['/b'], modified: [], deleted: ['/a'] },
      { added: ['/d/c'], modified: [], deleted: ['/b'] },
      { added: ['/a'], modified: [], deleted: ['/d/c'] },
      { added: [], modified: [], deleted: [] },
    ])
    expect(results.map(({ stdout }) => stdout)).toEqual(['', '', '1\n', 'a\n'])
    expect(readdirSync(scene.sessions)).toHaveLength(1)
  })

  it('decides about each command, and continues after a refusal', async () => {
    const { scene, run } = await opened()
    await run({ command: { shell: 'echo 1 > b' } })
    await expect(run({ command: { argv: ['cat', '/etc/passwd'] } })).rejects.toMatchObject({ code: 'EACCES' })
    await expect(run({ vault: 'other' })).rejects.toMatchObject({ code: 'EINVAL' })
    expect((await run({ command: { argv: ['cat', 'b'] } })).stdout).toBe('1\n')
    const events = ['requested', 'completed', 'refused', 'requested', 'completed']
    expect(await scene.journal()).toEqual(events)
  })

  it('leaves nothing of the session when it ends', async () => {
    const { scene, run, end } = await opened()
    await run({})
    expect(readdirSync(scene.sessions)).toHaveLength(1)
    await end()
    expect(readdirSync(scene.sessions)).toEqual([])
  })
})

describe('an approval', () => {
  const gated = { command: { argv: ['curl', '-s', '--version'] } }

  it('permits exactly one request, once', async () => {
    const scene = await Scene.make()
    const refusal = await scene.run(gated).catch((error: unknown) => error)
    expect(refusal).toMatchObject({ code: 'EACCES', decision: { action: 'require_approval' } })
    const [waiting] = await scene.approvals.list()
    expect(waiting).toMatchObject({ vault: scene.project, command: gated.command, approved: null })
    await scene.approvals.approve(waiting?.id ?? '')
    await expect(scene.run({ ...gated, env: { LANG: 'C' } })).rejects.toMatchObject({ code: 'EACCES' })
    await expect(scene.run({ command: { argv: ['curl', '-s', '--help'] } })).rejects.toMatchObject({
      code: 'EACCES',
    })
    await scene.run(gated)
    await expect(scene.run(gated)).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('cannot be used for a request that nobody made', async () => {
    const scene = await Scene.make()
    await expect(scene.approvals.approve('0123456789ab')).rejects.toMatchObject({ code: 'ENOENT' })
    await expect(scene.approvals.approve('../journal/x')).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is available for reading outside of the workspace if a person can be asked', async () => {
    const scene = await Scene.make()
    const outside = { command: { argv: ['cat', '/etc/passwd'] } }
    const refusal = scene.run(outside, { asksToReadOutside: true })
    await expect(refusal).rejects.toMatchObject({ decision: { action: 'require_approval' } })
    const [waiting] = await scene.approvals.list()
    await scene.approvals.approve(waiting?.id ?? '')
    await expect(scene.run(outside)).rejects.toMatchObject({ decision: { action: 'deny' } })
    const result = await scene.run(outside, { asksToReadOutside: true })
    expect(result.stdout).toBe(readFileSync('/etc/passwd', 'utf8'))
  })

  it('is not available for a denied command', async () => {
    const scene = await Scene.make()
    const denied = scene.run({ command: { argv: ['cat', '/etc/shadow'] } })
    await expect(denied).rejects.toMatchObject({ approval: undefined })
    expect(await scene.approvals.list()).toEqual([])
  })
})
