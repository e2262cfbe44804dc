import { chownSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay } from '../support/tools.ts'
import { Cli } from './run-cli.ts'
import { Tmux, whyNoTmux } from './tmux.ts'

const NOBODY = 65_534
const isRoot = process.getuid?.() === 0
/** An interactive shell with a prompt of its own. */
const SHELL = `env PS1=inner: bash --norc -i`
const PATIENCE_MS = 20_000

type Person = 'this user' | 'an ordinary user'
const people: readonly Person[] = isRoot ? ['this user', 'an ordinary user'] : ['this user']

/** A project and a shell of a person in it. */
function openProject(person: Person = 'this user'): { cli: Cli; open: () => Tmux } {
  const cli = new Cli()
  writeFileSync(join(cli.files, 'a.txt'), 'one\n')
  const bin = join(cli.scratch, 'bin')
  mkdirSync(bin)
  const script = `#!/bin/sh\nexec ${process.execPath} ${join(root, 'bin/coppice.js')} "$@"\n`
  writeFileSync(join(bin, 'coppice'), script, { mode: 0o755 })
  if (person === 'an ordinary user')
    for (const path of [cli.scratch, cli.files, join(cli.files, 'a.txt')]) chownSync(path, NOBODY, NOBODY)
  const become =
    person === 'an ordinary user'
      ? ['setpriv', `--reuid=${NOBODY}`, `--regid=${NOBODY}`, '--clear-groups']
      : []
  const env = {
    COPPICE_HOME: cli.home,
    HOME: cli.scratch,
    PATH: `${bin}:${process.env['PATH']}`,
    NODE_OPTIONS: '',
    PS1: 'outer:',
    ENV: '',
  }
  const open = () => new Tmux([...become, 'bash', '--norc'], cli.files, env)
  return { cli, open }
}

describe.skipIf(whyNoTmux() !== undefined)('a command at a terminal', () => {
  it.each(people.flatMap((person) => ['overlay', 'dir'].map((kind) => [kind, person] as const)))(
    'has job control, signals and the size of the window in a session of kind %s for %s',
    async (kind, person) => {
      const terminal = openProject(person).open()
      terminal.line(`coppice exec --session ${kind} -- ${SHELL}; echo code $?`)
      await terminal.shows(/^inner:$/m)
      // One job: between two, the shell itself would get the key.
      terminal.line("sh -c 'stty size; exec sleep 1000'")
      await terminal.shows(/^30 100$/m)
      terminal.keys('C-z')
      await terminal.shows(/Stopped +sh -c/)
      terminal.resize(90, 25)
      terminal.line('fg')
      await terminal.shows(/fg\nsh -c .*\n/)
      terminal.keys('C-c')
      terminal.line('stty size; exit 7')
      await terminal.shows(/^25 90$/m)
      await terminal.shows(/^code 7$/m)
    },
  )

  it.skipIf(!hasProgram('vim'))(
    'is an editor that ^Z stops, fg resumes, and whose file is kept',
    async () => {
      const { cli, open } = openProject()
      const terminal = open()
      terminal.line(`coppice exec --fork edit -- vim -u NONE b.txt`)
      await terminal.shows(/^~\n~\n/m)
      terminal.keys('i', 'hello', 'Escape')
      await terminal.shows(/^hello/m)
      terminal.keys('C-z')
      await terminal.shows(/Stopped/)
      terminal.line('fg')
      await terminal.shows(/^hello\n~/m)
      terminal.line(':wq')
      await terminal.shows(/in edit: coppice diff edit/)
      expect(await cli.ok('cat', '--vault', 'edit', '/b.txt')).toBe('hello\n')
      expect(existsSync(join(cli.files, 'b.txt'))).toBe(false)
    },
  )

  it('may run longer than a command without one, and has its exit code', async () => {
    const { cli, open } = openProject()
    const terminal = open()
    terminal.line(`coppice exec -- sh -c 'test -t 0 && test -t 1 && test -t 2 && exit 148'; echo code $?`)
    await terminal.shows(/^code 148$/m)
    expect(await cli.ok('log', '--commands')).toMatch(/exit 148/)
  })

  it('moves straight down by a line feed, as full-screen programs do', async () => {
    const terminal = openProject().open()
    terminal.line(`coppice exec -- sh -c 'stty -opost; printf "ab\\ncd\\r\\n"'; printf 'ef\\ngh\\n'`)
    await terminal.shows(/^ab\n {2}cd\nef\ngh$/m)
  })

  it('leaves the terminal as it was, and types nothing into it', async () => {
    const terminal = openProject().open()
    const sequences = '\\033[?1000h\\033[?25l\\033[?2004h\\033]0;touch typed\\007\\033[21t\\033[c\\033[6n'
    terminal.line(`coppice exec -- printf '${sequences}'; echo over`)
    await terminal.shows(/over\nouter:/)
    expect(terminal.variable('mouse_any_flag')).toBe('0')
    expect(terminal.variable('cursor_flag')).toBe('1')
    terminal.line('echo files: $(ls)')
    await terminal.shows(/^files: a.txt$/m)
  })

  it.skipIf(whyNoOverlay() !== undefined)('fails to rename a directory with the reason', async () => {
    const { cli, open } = openProject()
    mkdirSync(join(cli.files, 'd'))
    const terminal = open()
    terminal.line("coppice exec -- python3 -c \"import os; os.rename('d', 'e')\"")
    await terminal.shows(/^coppice: a fork cannot rename a directory of the project in one step/m)
  })

  it.each(people)('keeps its work when its terminal is closed, for %s', async (person) => {
    const { cli, open } = openProject(person)
    const terminal = open()
    terminal.line(`coppice exec --fork work -- ${SHELL}`)
    await terminal.shows(/^inner:$/m)
    terminal.line("trap 'echo saved > saved; exit' HUP; echo begun > begun; cat begun -")
    await terminal.shows(/^begun$/m)
    terminal.close()
    await expect
      .poll(() => cli.run(['ls', '--vault', 'work', '/']).then(({ stdout }) => stdout), {
        timeout: PATIENCE_MS,
      })
      .toBe('begun\nsaved\n')
    await expect.poll(() => readdirSync(join(cli.home, 'running')), { timeout: PATIENCE_MS }).toEqual([])
  })
})

describe.skipIf(whyNoTmux() !== undefined)('coppice enter', () => {
  it.each(people)('sees the files of a running command, which waits for it, for %s', async (person) => {
    const { cli, open } = openProject(person)
    const first = open()
    first.line(`coppice exec -- ${SHELL}; echo code $?`)
    await first.shows(/^inner:$/m)
    first.line('echo one > one; ls')
    await first.shows(/^a.txt +one$/m)

    const second = open()
    second.line(`mkdir sub; cd sub; coppice enter -- ${SHELL}`)
    await second.shows(/^inner:$/m)
    second.line('cat ../one; echo two > ../two; echo $COPPICE_FORK')
    await second.shows(/^one\nfiles-1$/m)
    expect(await cli.ok('forks')).toMatch(/^files-1 +now +runs env PS1=inner: bash --norc -i$/m)
    expect((await cli.run(['drop', 'files-1'])).stderr).toContain(
      "files-1 is in use by 'env PS1=inner: bash --norc -i'",
    )

    first.line('cat two; exit 3')
    await first.shows(/^two\nexit\ncoppice: another command still runs in this fork/m)
    await expect
      .poll(() => cli.ok('forks'), { timeout: PATIENCE_MS })
      .toMatch(/^files-1 +now +runs coppice enter$/m)
    second.line('exit')
    await first.shows(/^code 3$/m)
    expect(await cli.ok('diff', 'files-1', '--stat')).toMatch(/one[^\n]*\n[^\n]*two/)
  })

  it('starts from the changes of a fork in which nothing runs, and adds to them', async () => {
    const { cli } = openProject()
    await cli.run(['exec', '--fork', 'task', '-c', '--', 'echo one > one'])
    expect(await cli.ok('enter', 'task', '--', 'cat', 'one')).toBe('one\n')
    await cli.run(['enter', '--', 'sh', '-c', 'echo two > two'])
    expect(await cli.ok('ls', '--vault', 'task', '/')).toBe('one\ntwo\n')
    const missing = await cli.run(['enter', 'other'])
    expect(missing).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("has no fork 'other'; its forks: task"),
    })
  })
})
