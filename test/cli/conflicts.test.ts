import { execSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'

const LINES = Array.from({ length: 9 }, (_, index) => `line ${index + 1}\n`).join('')
const itHere = it.skipIf(whyNoOverlay() !== undefined)

class Project extends Cli {
  read(path: string): string {
    return readFileSync(join(this.files, path), 'utf8')
  }

  write(path: string, content: string): void {
    writeFileSync(join(this.files, path), content)
  }

  async fork(name: string, script: string): Promise<void> {
    const run = await this.run(['exec', '--fork', name, '--', 'sh', '-c', script])
    expect(run.code, run.stderr).toBe(0)
  }

  /** Runs a command that must end with an exit code; returns its messages. */
  async fails(code: number, ...args: string[]): Promise<string> {
    const run = await this.run(args)
    expect(run.code, run.stdout + run.stderr).toBe(code)
    return run.stderr
  }

  /** An editor that replaces the file, and keeps the text it was given as `seen`. */
  editor(text: string): { EDITOR: string; seen: () => string } {
    const [program, seen] = [join(this.scratch, 'editor'), join(this.scratch, 'seen')]
    writeFileSync(program, `#!/bin/sh\ncp "$2" '${seen}'\nprintf '%s' '${text}' > "$2"\n`)
    chmodSync(program, 0o755)
    return { EDITOR: `${program} --wait`, seen: () => readFileSync(seen, 'utf8') }
  }
}

/** A project whose files `a` and `b`, and a fork `f`, have different changes in the same lines. */
async function conflicting(): Promise<Project> {
  const project = new Project()
  for (const name of ['a', 'b', 'c']) project.write(name, LINES)
  await project.fork('f', 'sed -i "s/line 5/THEIRS/" a b c; echo new > new')
  for (const name of ['a', 'b']) project.write(name, LINES.replace('line 5', 'OURS'))
  return project
}

describe('an apply with conflicts', () => {
  itHere('waits until each is resolved, then writes everything, and is undone as a whole', async () => {
    const project = await conflicting()
    const { EDITOR, seen } = project.editor('edited\n')
    expect(await project.fails(3, 'apply', 'f', '--merge')).toContain('coppice resolve /a --theirs')
    expect([project.read('a'), project.read('c'), existsSync(join(project.files, 'new'))]).toEqual([
      LINES.replace('line 5', 'OURS'),
      LINES,
      false,
    ])
    expect(await project.ok('conflicts')).toContain('0 of 2 conflicts resolved\n  C /a')
    expect(await project.ok('conflicts', 'a')).toContain(
      '<<<<<<< this directory\nOURS\n=======\nTHEIRS\n>>>>>>> f\n',
    )
    expect(await project.ok('resolve', 'a', '--union')).toContain('1 of 2 conflicts resolved')
    expect(await project.fails(3, 'apply', '--continue')).toContain('nothing was written; 1 conflict')
    expect(project.read('c')).toBe(LINES)
    const edit = await project.run(['resolve', 'b', '--edit'], { env: { VISUAL: '', EDITOR } })
    expect(edit.stdout).toContain('finish with: coppice apply --continue')
    expect(seen()).toBe(await project.ok('conflicts', 'b'))
    expect(await project.ok('apply', '--continue')).toContain('wrote 4 changes of f')
    expect(project.read('a')).toBe(LINES.replace('line 5', 'OURS\nTHEIRS'))
    expect([project.read('b'), project.read('c')]).toEqual(['edited\n', LINES.replace('line 5', 'THEIRS')])
    expect(await project.json('conflicts')).toEqual({ open: 0, conflicts: [] })
    await project.ok('apply', 'f', '--undo')
    expect([project.read('b'), project.read('c')]).toEqual([LINES.replace('line 5', 'OURS'), LINES])
  })

  itHere('opens an edited conflict again when a side changes, and keeps a chosen side', async () => {
    const project = await conflicting()
    await project.fails(3, 'apply', 'f', '--merge')
    await project.ok('resolve', 'a', '--theirs')
    const { EDITOR } = project.editor('edited\n')
    await project.run(['resolve', 'b', '--edit'], { env: { VISUAL: '', EDITOR } })
    for (const name of ['a', 'b']) project.write(name, LINES.replace('line 5', 'LATER'))
    expect(await project.ok('conflicts')).toMatch(
      /C \/b {2}changed since it was resolved\n {2}- \/a {2}theirs/,
    )
    await project.ok('resolve', '--all', '--ours')
    await project.ok('apply', '--continue')
    expect([project.read('a'), project.read('b')]).toEqual([
      LINES.replace('line 5', 'THEIRS'),
      LINES.replace('line 5', 'LATER'),
    ])
  })

  itHere('shows the ways that a conflict has, and what stays as it is', async () => {
    const project = await conflicting()
    rmSync(join(project.files, 'a'))
    project.write('c', LINES.replace('line 5', 'THEIRS'))
    const message = await project.fails(3, 'apply', 'f', '--merge')
    expect(message).toContain('C /a was removed here')
    expect(message).toContain('coppice resolve /b --edit')
    await project.ok('resolve', 'b', '--ours')
    const left = await project.ok('conflicts')
    expect(left).toMatch(/resolve \/a --theirs {2}takes what f has\nthen finish/)
    await project.ok('resolve', 'a', '--ours')
    const applied = await project.ok('apply', '--continue')
    expect(applied).toMatch(
      /^M \/a {2}stays as it is\nM \/b {2}stays as it is\nM \/c {2}stays as it is\nA \/new\n/,
    )
    expect(applied).toContain('wrote 1 change of f to this directory; 3 paths stay as they are; undo with')
    await project.ok('apply', 'f', '--undo')
    expect(await project.json('apply', 'f', '--', 'c')).toMatchObject({ unchanged: ['/c'] })
    expect(await project.ok('apply', 'f', '--undo')).toContain('undid the apply of f, which wrote nothing')
  })

  itHere('is given up without a trace, also by a drop of its fork', async () => {
    const project = await conflicting()
    await project.fails(3, 'apply', 'f', '--merge')
    expect(await project.ok('apply', '--abort')).toContain('nothing was written')
    expect(await project.fails(1, 'apply', '--continue')).toContain('no merge waits')
    await project.fails(3, 'apply', 'f', '--merge', '--', 'a')
    expect(await project.json('conflicts')).toMatchObject({ kind: 'apply', sources: ['f'], open: 1 })
    await project.ok('drop', 'f')
    expect(await project.json('conflicts')).toEqual({ open: 0, conflicts: [] })
    expect(readdirSync(join(project.home, 'merges'))).toEqual([])
  })

  itHere(
    'keeps a file unresolved that the editor left with markers, or that the editor refused',
    async () => {
      const project = await conflicting()
      await project.fails(3, 'apply', 'f', '--merge')
      const unedited = await project.run(['resolve', 'a', '--edit'], { env: { VISUAL: '', EDITOR: 'true' } })
      expect([unedited.code, unedited.stderr]).toEqual([
        1,
        expect.stringContaining('still has conflict markers'),
      ])
      expect(unedited.stderr).not.toContain('your text')
      const { EDITOR } = project.editor('half of it\n<<<<<<< mine\n')
      const half = await project.run(['resolve', 'a', '--edit'], { env: { VISUAL: '', EDITOR } })
      const [, kept = ''] = /conflict markers; your text is in (.*)\n/.exec(half.stderr) ?? []
      expect(readFileSync(kept, 'utf8')).toBe('half of it\n<<<<<<< mine\n')
      rmSync(dirname(kept), { recursive: true })
      const failed = await project.run(['resolve', 'a', '--edit'], { env: { VISUAL: 'false' } })
      expect([failed.code, failed.stderr]).toEqual([1, expect.stringContaining("the editor 'false' failed")])
      expect(await project.fails(1, 'resolve', 'c', '--ours')).toContain("'c' is not in conflict")
      expect(await project.fails(2, 'resolve', 'a')).toContain('choose one of --ours')
      expect(await project.json('conflicts')).toMatchObject({ open: 2 })
    },
  )

  itHere('takes an edited file with a heading that looks like a marker', async () => {
    const project = new Project()
    const text = (line: string) => `Coppice\n=======\n${line}\n`
    project.write('a', text('line'))
    await project.fork('f', 'sed -i "s/line/THEIRS/" a')
    project.write('a', text('OURS'))
    await project.fails(3, 'apply', 'f', '--merge')
    const { EDITOR } = project.editor(text('both'))
    const edit = await project.run(['resolve', 'a', '--edit'], { env: { VISUAL: '', EDITOR } })
    expect(edit).toMatchObject({ code: 0, stderr: '' })
    await project.ok('apply', '--continue')
    expect(project.read('a')).toBe(text('both'))
  })

  describe.each(['here', 'in the fork'])('between a file and a directory %s', (place) => {
    const toDirectory = 'rm f g; mkdir f g; echo y > f/y; echo z > g/z'
    const toFile = 'rm -r d; echo file > d'
    const toOthers = 'echo changed > f; rm -r g; echo g > g; echo x2 > d/x; mkdir d/n; echo n > d/n/n'

    /** A project whose `f`, `g` and `d` are a file on one side and a directory on the other. */
    async function mixed(): Promise<Project> {
      const project = new Project()
      for (const name of ['f', 'g', 'same']) project.write(name, 'f\n')
      mkdirSync(join(project.files, 'd'))
      for (const name of ['d/x', 'd/y']) project.write(name, 'x\n')
      const scripts = [`${toDirectory}; ${toFile}`, toOthers]
      const [own = '', others = ''] = place === 'here' ? scripts : scripts.reverse()
      await project.fork('k', `${others}; echo k > same`)
      execSync(own, { cwd: project.files })
      return project
    }

    const contents = (project: Project) =>
      globSync('**', { cwd: project.files, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name).slice(project.files.length))
        .map((path) => `${path}=${project.read(path).trimEnd()}`)
        .sort()

    itHere('is one choice for all that is below, which is undone', async () => {
      for (const way of ['ours', 'theirs', 'markers'] as const) {
        const project = await mixed()
        const before = contents(project)
        const message = await project.fails(3, 'apply', 'k', '--merge')
        expect(message.match(/^ {2}C .*/gm)).toEqual([
          expect.stringMatching(
            /^ {2}C \/d is a (?:file|directory) here, and a (?:directory|file) in the fork$/,
          ),
          expect.stringContaining('C /f is a'),
          expect.stringContaining('C /g is a'),
        ])
        expect(message).not.toContain('--union')
        if (way === 'markers') {
          const [, typed = ''] = /markers with: coppice (.*)$/m.exec(message) ?? []
          expect((await project.run(typed.split(' '))).code).toBe(0)
        } else {
          const hints = [...message.matchAll(/^ {2}coppice (resolve \S+ --\w+)/gm)].map(([, typed]) => typed)
          expect(hints).toEqual(['resolve /d --ours', 'resolve /d --theirs'])
          for (const path of ['/d', '/f', '/g']) await project.ok('resolve', path, `--${way}`)
          await project.ok('apply', '--continue')
        }
        expect(contents(project)).toEqual(expected(way, place === 'here'))
        await project.ok('apply', 'k', '--undo')
        expect(contents(project)).toEqual(before)
      }
    })
  })

  itHere('offers no side of a ref that both moved', async () => {
    const project = new Project()
    mkdirSync(join(project.files, '.git/refs/heads'), { recursive: true })
    for (const name of ['a', '.git/HEAD']) project.write(name, LINES)
    await project.fork('f', 'echo theirs > a; echo theirs > .git/HEAD')
    for (const name of ['a', '.git/HEAD']) project.write(name, 'ours\n')
    await project.fails(3, 'apply', 'f', '--merge')
    const message = await project.fails(1, 'resolve', '.git/HEAD', '--theirs')
    expect(message).toContain('there is no side to choose')
    await project.ok('resolve', 'a', '--theirs')
    expect(await project.fails(3, 'apply', '--continue')).not.toContain('coppice resolve')
  })
})

/** Files after a merge of both sides: `files` has directories where `directories` has files. */
function expected(way: 'ours' | 'theirs' | 'markers', isDirectoryHere: boolean): string[] {
  const [replaced, kept] = [
    ['/d=file', '/f/y=y', '/g/z=z'],
    ['/d/n/n=n', '/d/x=x2', '/d/y=x', '/f=changed', '/g=g'],
  ]
  const [ours = [], whole = []] = isDirectoryHere ? [replaced, kept] : [kept, replaced]
  // The fork does not have the file of a directory that it did not change.
  const theirs = whole.filter((line) => line !== '/d/y=x')
  const beside = theirs.map((line) => line.replace(/^\/(\w)/, '/$1~k'))
  const files = way === 'ours' ? ours : way === 'theirs' ? theirs : [...ours, ...beside]
  return [...files, '/same=k'].sort()
}

describe('a merge of forks with conflicts', () => {
  itHere("uses git's merge tool, and is undone until the fork is used", async () => {
    const project = await conflicting()
    await project.fork('g', 'sed -i "s/OURS/G/" a; echo g > g')
    const env = { GIT_CONFIG_GLOBAL: join(project.scratch, 'gitconfig'), GIT_CONFIG_NOSYSTEM: '1' }
    writeFileSync(
      join(project.scratch, 'gitconfig'),
      '[merge]\n\ttool = both\n[mergetool "both"]\n\tcmd = cat \\"$BASE\\" \\"$LOCAL\\" \\"$REMOTE\\" > \\"$MERGED\\"\n\ttrustExitCode = true\n',
    )
    const before = await project.ok('diff', 'g')
    expect(await project.fails(3, 'merge', 'f', 'g')).toContain('C /a')
    const merged = await project.run(['resolve', 'a', '--mergetool'], { env })
    expect(merged.code, merged.stderr).toBe(0)
    await project.ok('resolve', '--all', '--theirs')
    expect(await project.ok('merge', '--continue')).toContain('of f into g')
    expect(await project.ok('cat', '/a', '--vault', 'g')).toBe(
      LINES + LINES.replace('line 5', 'G') + LINES.replace('line 5', 'THEIRS'),
    )
    expect(await project.ok('merge', '--undo', 'g')).toContain('undid the last merge into g')
    expect(await project.ok('diff', 'g')).toBe(before)
    await project.ok('merge', 'f', 'g', '--theirs')
    await project.fork('g', 'echo more > more')
    expect(await project.fails(3, 'merge', '--undo', 'g')).toContain('nothing was undone')
    expect(await project.ok('diff', 'g', '--stat')).toContain('/more')
  })
})

describe('an apply and a merge that wait at the same time', () => {
  itHere('are each finished by the command that began them, and named for all others', async () => {
    const project = await conflicting()
    await project.fork('g', 'sed -i "s/OURS/G/" a')
    await project.fails(3, 'apply', 'f', '--merge')
    const message = await project.fails(3, 'merge', 'f', 'g')
    expect(message).toContain('coppice resolve /a --into g --theirs')
    expect(await project.ok('resolve', '/a', '--into', 'g', '--theirs')).toContain(
      'all conflicts are resolved',
    )
    await project.ok('resolve', '/a', '--into', 'g', '--undo')
    expect(await project.fails(1, 'conflicts')).toContain('--into g')
    expect(await project.ok('resolve', '--all', '--theirs', '--into', 'g')).toContain('merge --continue')
    expect(await project.ok('merge', '--continue')).toContain('of f into g')
    expect(await project.ok('apply', '--abort')).toContain('f into this directory')
    expect(await project.json('conflicts')).toEqual({ open: 0, conflicts: [] })
  })
})

describe('a merge of vaults with conflicts', () => {
  async function vaults(): Promise<Project> {
    const project = new Project()
    await project.ok('vault', 'create', 'base')
    const write = (vault: string, path: string, input: string) =>
      project.run(['write', '--vault', vault, path], { input })
    for (const path of ['/a', '/gone']) await write('base', path, LINES)
    await project.ok('fork', 'base', 'task')
    await write('task', '/a', LINES.replace('line 5', 'THEIRS'))
    await project.ok('rm', '--vault', 'task', '/gone')
    await write('base', '/a', LINES.replace('line 5', 'OURS'))
    await write('base', '/gone', 'kept\n')
    return project
  }

  it('shows what the target gets, and is undone to the byte', async () => {
    const project = await vaults()
    await project.fails(3, 'merge', 'task')
    expect(await project.fails(1, 'resolve', '/gone', '--union')).toContain('choose --ours or --theirs')
    await project.ok('resolve', '/gone', '--ours')
    await project.ok('resolve', '/a', '--union')
    expect(await project.ok('merge', '--continue')).toBe('M /a\nmerged 1 change of task into base\n')
    expect(await project.ok('cat', '/a', '--vault', 'base')).toBe(LINES.replace('line 5', 'OURS\nTHEIRS'))
    expect(await project.ok('cat', '/gone', '--vault', 'base')).toBe('kept\n')
    await project.ok('merge', '--undo', 'base')
    expect(await project.ok('cat', '/a', '--vault', 'base')).toBe(LINES.replace('line 5', 'OURS'))
    await project.ok('merge', 'task', '--theirs')
    expect(await project.ok('ls', '--vault', 'base')).toBe('a\n')
    await project.run(['write', '--vault', 'base', '/later'], { input: 'later' })
    expect(await project.fails(3, 'merge', '--undo', 'base')).toContain("'base' has a change since")
    expect(await project.ok('ls', '--vault', 'base')).toBe('a\nlater\n')
    expect(await project.ok('vault', 'list')).not.toContain('merge-')
  })

  it('refuses another merge into the same vault until it ends', async () => {
    const project = await vaults()
    await project.ok('fork', 'base', 'other')
    await project.fails(3, 'merge', 'task')
    expect(await project.fails(1, 'merge', 'other')).toContain('the merge of task into base waits')
    await project.ok('merge', '--abort')
    await project.ok('merge', 'other')
  })

  it('takes the base into the fork first, and is then without conflicts', async () => {
    const project = await vaults()
    await project.fails(3, 'merge', 'base', 'task')
    await project.ok('resolve', '--all', '--theirs')
    await project.ok('merge', '--continue')
    expect(await project.ok('merge', 'task')).toContain('of task into base')
    expect(await project.ok('cat', '/gone', '--vault', 'base')).toBe('kept\n')
  })
})
