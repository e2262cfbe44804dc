import { spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { listCoppiceMounts } from '../../src/fuse/index.ts'
import { runAsOrdinaryUser, whyNoOrdinaryMounts } from '../support/ordinary-user.ts'
import type { Run } from '../support/run-node.ts'
import { attempt, run, whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

function attemptLines(program: string, ...args: string[]): string[] {
  return spawnSync(program, args, { encoding: 'utf8' }).stdout.split('\n').filter(Boolean)
}

const reason = process.getuid?.() === 0 ? whyNoOverlay() : 'only root can mount on the machine'

/** A repository whose worktrees are forks. Events are as Claude Code sends them. */
class Project extends Cli {
  constructor() {
    super()
    writeFileSync(join(this.files, 'a'), 'one\n')
    writeFileSync(join(this.files, '.env'), 'TOKEN=1\n')
    writeFileSync(join(this.files, '.gitignore'), '.env\n')
    run('git', '-C', this.files, 'init', '-q')
    onTestFinished(() => {
      for (const path of this.mounted) attempt('umount', path)
    })
  }

  get mounted(): string[] {
    const mounts = listCoppiceMounts().map(({ directory }) => directory)
    return mounts.filter((path) => path.startsWith(`${this.home}-worktrees/`))
  }

  create(name: string, cwd: string = this.files): Promise<Run> {
    return this.#send({ hook_event_name: 'WorktreeCreate', session_id: 's', cwd, name })
  }

  remove(path: string): Promise<Run> {
    return this.#send({
      hook_event_name: 'WorktreeRemove',
      session_id: 's',
      cwd: this.files,
      worktree_path: path,
    })
  }

  /** Kills the process that mounts a worktree, and the shell that keeps it mounted if asked to. */
  async kill(fork: string, signal: NodeJS.Signals, alsoHolder = false): Promise<void> {
    const [pid = ''] = attemptLines('pgrep', '-f', `coppice.js mount ${fork} ${this.home}`)
    const holders = alsoHolder ? attemptLines('pgrep', '-P', pid) : []
    for (const each of [...holders, pid]) process.kill(Number(each), signal)
    await expect.poll(() => existsSync(`/proc/${pid}/exe`), { timeout: 20_000 }).toBe(false)
  }

  async worktree(name: string, cwd?: string): Promise<string> {
    const { code, stdout, stderr } = await this.create(name, cwd)
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }

  #send(event: object): Promise<Run> {
    return this.run(['hook', 'claude', '--worktree'], { input: JSON.stringify(event) })
  }
}

describe.skipIf(reason !== undefined)(`worktrees of an agent${reason ? `: ${reason}` : ''}`, () => {
  it('are forks with all files of the project, whose changes stay when they are removed', async () => {
    const cli = new Project()
    mkdirSync(join(cli.files, 'src'))
    const path = await cli.worktree('fix/login', join(cli.files, 'src'))
    expect(path).toBe(`${cli.home}-worktrees/fix-login`)
    expect(readdirSync(path).sort()).toEqual(['.env', '.git', '.gitignore', 'a', 'src'])
    writeFileSync(join(path, 'a'), 'two\n')
    expect(await cli.ok('diff', 'fix-login', '--stat')).toContain('M /a')
    expect(await cli.remove(path)).toMatchObject({
      code: 0,
      stdout: '',
      stderr: expect.stringContaining('fix-login keeps 1 changed file: coppice diff fix-login'),
    })
    expect([existsSync(path), cli.mounted]).toEqual([false, []])
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('one\n')
    await cli.ok('apply', 'fix-login')
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('two\n')
  })

  it('are continued by their name, mounted or not', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    writeFileSync(join(path, 'new'), 'new\n')
    expect(await cli.worktree('feat')).toBe(path)
    await cli.remove(path)
    expect(await cli.worktree('feat')).toBe(path)
    expect(readFileSync(join(path, 'new'), 'utf8')).toBe('new\n')
  })

  it('leave nothing if they have no changes', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    expect(await cli.remove(path)).toEqual({ code: 0, stdout: '', stderr: '' })
    expect(await cli.json('vault', 'list')).toEqual([])
    expect([existsSync(path), cli.mounted]).toEqual([false, []])
  })

  it('stay as forks after an apply, which can still be undone', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    writeFileSync(join(path, 'a'), 'two\n')
    await cli.ok('apply', 'feat')
    expect((await cli.remove(path)).stderr).toContain('feat stays for: coppice apply feat --undo')
    await cli.ok('apply', 'feat', '--undo')
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('one\n')
  })

  it('are removed while a program is in them', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    run('sh', '-c', 'cd "$0"; sleep 30 > /dev/null 2>&1 & echo $! > user', path)
    const user = Number(readFileSync(join(path, 'user'), 'utf8'))
    onTestFinished(() => void process.kill(user))
    expect((await cli.remove(path)).code).toBe(0)
    expect(await cli.ok('diff', 'feat', '--stat')).toContain('A /user')
  })

  it('of a child show what its parent has in its own', async () => {
    const cli = new Project()
    const parent = await cli.worktree('parent')
    writeFileSync(join(parent, 'plan'), 'plan\n')
    const child = await cli.worktree('child', parent)
    expect(readFileSync(join(child, 'plan'), 'utf8')).toBe('plan\n')
    writeFileSync(join(child, 'done'), 'done\n')
    expect(existsSync(join(parent, 'done'))).toBe(false)
    await cli.remove(child)
    await cli.remove(parent)
    expect(await cli.ok('diff', 'parent', '--stat')).toMatch(/^A \/plan.*\n1 path/)
  })

  it('stay mounted while those of a child are, and are removed twice without an error', async () => {
    const cli = new Project()
    const parent = await cli.worktree('parent')
    const child = await cli.worktree('child', parent)
    writeFileSync(join(child, 'done'), 'done\n')
    expect((await cli.remove(parent)).stderr).toContain(
      'parent stays mounted as long as worktrees of it are: child',
    )
    expect(readFileSync(join(child, 'a'), 'utf8')).toBe('one\n')
    for (const path of [child, child, parent, parent]) expect((await cli.remove(path)).code).toBe(0)
    expect(cli.mounted).toEqual([])
  })

  it('are applied again and again while they are mounted', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    for (const text of ['two\n', 'three\n', 'four\n']) {
      writeFileSync(join(path, 'a'), text)
      await cli.ok('apply', 'feat')
      expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe(text)
    }
    await cli.ok('apply', 'feat', '--undo')
    writeFileSync(join(path, 'a'), 'five\n')
    await cli.ok('apply', 'feat')
    expect(readFileSync(join(cli.files, 'a'), 'utf8')).toBe('five\n')
  })

  it.each([
    ['SIGKILL', false],
    ['SIGKILL', true],
    ['SIGTERM', true],
  ] as const)('lose nothing by %s of their process, or of its shell too: %s', async (signal, alsoHolder) => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    writeFileSync(join(path, 'new'), 'new\n')
    await cli.kill('feat', signal, alsoHolder)
    expect((await cli.run(['vault', 'list'])).code).toBe(0)
    expect(cli.mounted).toEqual([])
    expect(await cli.create('feat')).toMatchObject({ code: 0, stdout: `${path}\n` })
    expect(readFileSync(join(path, 'new'), 'utf8')).toBe('new\n')
    writeFileSync(join(path, 'more'), 'more\n')
    expect(await cli.ok('diff', 'feat', '--stat')).toContain('A /more')
  })

  it('wait for a project that is not there when their process was killed', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    writeFileSync(join(path, 'new'), 'new\n')
    await cli.kill('feat', 'SIGKILL')
    renameSync(cli.files, `${cli.files}.away`)
    mkdirSync(cli.files)
    expect(await cli.run(['vault', 'list'])).toMatchObject({ code: 0, stderr: '' })
    rmdirSync(cli.files)
    renameSync(`${cli.files}.away`, cli.files)
    expect(await cli.run(['diff', 'feat', '--stat'])).toMatchObject({
      stdout: expect.stringContaining('A /new'),
    })
  })

  it('whose process is stopped, or whose record is damaged, hold up no other command', async () => {
    const cli = new Project()
    const path = await cli.worktree('feat')
    writeFileSync(join(path, 'new'), 'new\n')
    const [pid = ''] = attemptLines('pgrep', '-f', `coppice.js mount feat ${cli.home}`)
    process.kill(Number(pid), 'SIGSTOP')
    expect((await cli.run(['diff', 'feat'])).stderr).toContain('the process that mounted it is stopped')
    process.kill(Number(pid), 'SIGCONT')
    await cli.kill('feat', 'SIGKILL')
    const [name = ''] = readdirSync(join(cli.home, 'mounts'))
    const record = join(cli.home, 'mounts', name, 'fork.json')
    const before = readFileSync(record)
    writeFileSync(record, '')
    expect(await cli.run(['forks'])).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('no readable record'),
    })
    writeFileSync(record, before)
    expect((await cli.run(['diff', 'feat', '--stat'])).stdout).toContain('A /new')
  })

  it('have names of their own, whatever other projects and vaults are called', async () => {
    const cli = new Project()
    await cli.ok('vault', 'create', 'docs')
    const path = await cli.worktree('docs')
    writeFileSync(join(path, 'new'), 'new\n')
    await cli.remove(path)
    expect(await cli.worktree('docs')).toBe(path)
    expect(readFileSync(join(path, 'new'), 'utf8')).toBe('new\n')
    const others = ['日本語', '日本', '', 'a b', 'ab', 'x'.repeat(60), 'x'.repeat(61), '..']
    const paths: string[] = []
    for (const name of others) paths.push(await cli.worktree(name))
    expect(new Set(paths).size).toBe(others.length)
    for (const each of [join(path, '..', '..'), join(path, '../.')])
      expect((await cli.remove(each)).stderr).toContain('not a worktree of coppice')
  }, 60_000)

  it.each([
    ['no event', { input: 'x' }, 'standard input is not JSON'],
    ['another event', { input: '{"hook_event_name":"Stop"}' }, 'no event of Claude Code about a worktree'],
  ])('are refused for %s', async (_, options, message) => {
    const cli = new Project()
    const refused = await cli.run(['hook', 'claude', '--worktree'], options)
    expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(message) })
  })

  it('are refused for a directory that is not a project, and one that is none of ours', async () => {
    const cli = new Project()
    const home = await cli.run(['hook', 'claude', '--worktree'], {
      input: JSON.stringify({ hook_event_name: 'WorktreeCreate', cwd: '/', name: 'x' }),
    })
    expect(home).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('not a project') })
    const other = join(cli.scratch, 'other')
    mkdirSync(other)
    await cli.worktree('feat')
    const removed = await cli.remove(other)
    expect(removed).toMatchObject({ code: 1, stderr: expect.stringContaining('not a worktree of coppice') })
    expect(existsSync(other)).toBe(true)
    rmSync(other, { recursive: true })
  })

  it.skipIf(whyNoOrdinaryMounts() !== undefined)('work for ordinary users, too', () => {
    const { home, lines } = runAsOrdinaryUser(new Cli().scratch, ORDINARY_USER)
    expect(lines).toEqual([
      `path: ${home}/home-worktrees/feat`,
      'shown: .env a',
      'live: M /a +1 -1 1 path, +1 -1 lines',
      'removed: M /a +1 -1 1 path, +1 -1 lines',
      'the directory: one',
      'left: 0',
    ])
  })
})

const ORDINARY_USER = `
  event() { printf '{"hook_event_name":"%s","cwd":"%s","name":"feat","worktree_path":"%s"}' $1 $PWD $2; }
  mkdir project; cd project; echo one > a; echo TOKEN=1 > .env
  path=$(event WorktreeCreate | coppice hook claude --worktree); echo "path: $path"
  echo "shown:" $(ls -A $path); sed -i s/one/two/ $path/a
  echo "live:" $(coppice diff feat --stat)
  event WorktreeRemove $path | coppice hook claude --worktree 2> $said
  echo "removed:" $(coppice diff feat --stat)
  echo "the directory: $(cat a)"
  echo "left: $(find ../home/mounts ../home-worktrees -mindepth 1 | wc -l)"
`
