import { execFileSync } from 'node:child_process'
import { chownSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { hasProgram } from '../support/debian-programs.ts'
import { root } from '../support/run-node.ts'
import { whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { PseudoTerminal } from './pseudo-terminal.ts'
import { Cli } from './run-cli.ts'

const NOBODY = 65_534
const LINES = Array.from({ length: 30 }, (_, index) => `line ${index + 1}\n`).join('')
const PACKAGES = Array.from({ length: 120 }, (_, index) => `node_modules/package-${index}/index.js`)
/** Work of a stand-in for a coding agent, by fork. The first and the third change the same line. */
const AGENTS = {
  'fix-1':
    'sed -i "s/line 15$/FIRST/" src/cart.ts; mkdir docs; for n in a b c; do echo $n > docs/$n.md; done',
  'fix-2': 'sed -i "s/line 2$/TOP/; s/line 29$/BOTTOM/" src/total.ts',
  'fix-3':
    'sed -i "s/line 15$/THIRD/; s/line 28$/END/" src/cart.ts; echo new > src/new.ts; git add -A; git commit -qm third',
  'fix-4': 'echo broken > test.sh',
} as const

/** A repository with packages, and a person who has agents work on it. */
class Person extends Cli {
  readonly project = realpathSync(this.files)

  constructor(user?: number) {
    super(user)
    this.write('.gitignore', 'node_modules\n')
    for (const path of ['src/cart.ts', 'src/total.ts']) this.write(path, LINES)
    for (const path of PACKAGES) this.write(path, `// ${path}\n`)
    this.write('test.sh', 'grep -q line src/cart.ts\n')
    this.git('init', '-q')
    this.git('config', 'user.name', 'person')
    this.git('config', 'user.email', 'person@example.com')
    this.git('add', '-A')
    this.git('commit', '-qm', 'start')
  }

  write(path: string, text: string): void {
    const at = join(this.project, path)
    for (const directory of this.#listParents(at)) {
      mkdirSync(directory, { recursive: true })
      if (this.user !== undefined) chownSync(directory, this.user, this.user)
    }
    writeFileSync(at, text)
    if (this.user !== undefined) chownSync(at, this.user, this.user)
  }

  read(path: string): string {
    return readFileSync(join(this.project, path), 'utf8')
  }

  git(...args: string[]): string {
    const identity = this.user === undefined ? {} : { uid: this.user, gid: this.user }
    return execFileSync('git', args, { cwd: this.project, encoding: 'utf8', env: this.#env(), ...identity })
  }

  /** Reads every file of the project, but those of git that no command of git shows. */
  snapshot(): Record<string, string> {
    const entries = readdirSync(this.project, { recursive: true, withFileTypes: true })
    const paths = entries
      .filter((entry) => entry.isFile() && !entry.parentPath.includes('/.git'))
      .map((entry) => join(entry.parentPath, entry.name))
      .sort()
    const files = paths.map((path) => [path.slice(this.project.length), readFileSync(path, 'utf8')])
    const git = [this.git('log', '--all', '--format=%H %D'), this.git('status', '--porcelain')]
    return { ...Object.fromEntries(files), git: git.join('\n') }
  }

  async act(fork: keyof typeof AGENTS): Promise<void> {
    const run = await this.run(['exec', '--fork', fork, '--', 'sh', '-c', AGENTS[fork]], { env: this.#env() })
    expect(run.code, run.stderr).toBe(0)
  }

  /** Answers the questions of `apply -p`. */
  async pick(fork: string, answers: readonly string[]): Promise<void> {
    const become =
      this.user === undefined
        ? []
        : ['setpriv', `--reuid=${this.user}`, `--regid=${this.user}`, '--clear-groups']
    const program = [...become, process.execPath, join(root, 'bin/coppice.js'), 'apply', fork, '-p']
    const env = { ...process.env, ...this.#env(), NODE_OPTIONS: '', COPPICE_HOME: this.home, NO_COLOR: '1' }
    const words = ['sh', '-c', `cd '${this.project}' && exec "$@"`, 'sh', ...program]
    const terminal = new PseudoTerminal(words, env, [40, 120])
    for (const [index, key] of answers.entries()) {
      await vi.waitFor(() => expect(terminal.shown.split(']? ').length).toBeGreaterThan(index + 1), 20_000)
      terminal.type(`${key}\r`)
    }
    expect((await terminal.ended()).code, terminal.shown).toBe(0)
  }

  /** A call of an agent outside of any fork, with hooks. */
  async callOutside(command: string): Promise<void> {
    const send = async (hook_event_name: string) => {
      const call = { tool_name: 'Bash', tool_input: { command }, tool_use_id: '1' }
      const input = JSON.stringify({ session_id: 's1', cwd: this.project, hook_event_name, ...call })
      expect(await this.run(['hook', 'claude'], { input })).toEqual({ code: 0, stdout: '', stderr: '' })
    }
    await send('PreToolUse')
    const identity = this.user === undefined ? {} : { uid: this.user, gid: this.user }
    execFileSync('sh', ['-c', command], { cwd: this.project, env: this.#env(), stdio: 'ignore', ...identity })
    await send('PostToolUse')
  }

  #env(): NodeJS.ProcessEnv {
    return { PATH: process.env['PATH'], HOME: this.scratch }
  }

  #listParents(path: string): string[] {
    const directory = dirname(path)
    return directory.length <= this.project.length ? [] : [...this.#listParents(directory), directory]
  }
}

const users = [
  { name: 'root or the current user', user: undefined, lack: whyNoOverlay() },
  { name: 'an ordinary user', user: NOBODY, lack: whyNotNobody() ?? whyNoOverlay() },
]

it.for(users)(
  'keeps parts of four forks, resolves a conflict, undoes and redoes all of it, as $name',
  { timeout: 120_000 },
  async ({ user, lack }, { skip }) => {
    if (lack !== undefined) skip(lack)
    if (!hasProgram('python3')) skip('takes python3, to type into a terminal')
    const person = new Person(user)
    const start = person.snapshot()
    await Promise.all((['fix-1', 'fix-2', 'fix-3', 'fix-4'] as const).map((fork) => person.act(fork)))
    expect(person.snapshot()).toEqual(start)

    const compared = await person.ok('compare', ...Object.keys(AGENTS), '--check', 'sh test.sh')
    expect(compared).toMatch(/fix-1 +passed .* fix-3: 1 file\n/)
    expect(compared).toMatch(/fix-4 +exit 127 /)

    const keepAll = async () => {
      await person.ok('apply', 'fix-1', '--', 'src/cart.ts', 'docs/a.md')
      await person.pick('fix-2', ['y', 'n'])
    }
    await keepAll()
    const conflict = await person.run(['apply', 'fix-3', '--merge', '--', 'src'])
    expect([conflict.code, conflict.stderr]).toEqual([
      3,
      expect.stringContaining('coppice resolve /src/cart.ts'),
    ])
    await person.ok('resolve', 'src/cart.ts', '--union')
    await person.ok('apply', '--continue')
    const kept = person.snapshot()
    expect(kept['/src/cart.ts']).toBe(LINES.replace('line 15', 'FIRST\nTHIRD').replace('line 28', 'END'))
    expect(kept['/src/total.ts']).toBe(LINES.replace('line 2\n', 'TOP\n'))
    expect([kept['/docs/a.md'], kept['/docs/b.md'], kept['/src/new.ts']]).toEqual(['a\n', undefined, 'new\n'])

    for (const fork of ['fix-3', 'fix-2', 'fix-1']) await person.ok('apply', fork, '--undo')
    expect(person.snapshot()).toEqual(start)
    await keepAll()
    await person.ok('apply', '--continue')
    expect(person.snapshot()).toEqual(kept)

    await person.callOutside('rm -rf src; echo broken > test.sh; git checkout -q -b lost')
    expect(person.snapshot()).not.toEqual(kept)
    await person.ok('undo')
    expect(person.snapshot()).toEqual(kept)
  },
)
