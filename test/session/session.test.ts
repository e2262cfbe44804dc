import { createHash } from 'node:crypto'
import { chmodSync, chownSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { CommandSession } from '../../src/workspace/session/index.ts'
import { whyNoMount } from '../fuse/mounted-vault.ts'
import { programFile } from '../support/program-file.ts'
import { VaultLine } from '../support/session-line.ts'
import { runEach, runScenarios, type ScenarioChanges, seedBases } from '../support/session-scenarios.ts'
import { runAsNobody, whyNoOverlay, whyNotNobody } from '../support/tools.ts'
import { vaultTree } from '../support/vault-tree.ts'

const NOBODY = 65534
/** Large enough not to fit any buffer on the way. */
const LARGE = 32 * 2 ** 20

/** The commands of each scenario, and the changes that a session must report. */
const scenarios: Readonly<
  Record<string, { readonly run: readonly string[]; readonly changes: readonly string[] }>
> = {
  'nothing is done': { run: ['cat a.txt dir/one; ls -R'], changes: [] },
  'files, directories and links are made': {
    run: ['mkdir -p n/m; echo hi > n/m/f; ln -s ../a.txt n/l; chmod 750 n'],
    changes: [
      '/n/l: symlink ../a.txt',
      '/n/m/f: file 644 "hi\\n"',
      '/n/m: directory 755',
      '/n: directory 750',
    ],
  },
  'a file is written over and one is added to': {
    run: ['echo new > a.txt; echo more >> dir/sub/deep'],
    changes: ['/a.txt: file 644 "new\\n"', '/dir/sub/deep: file 644 "d\\nmore\\n"'],
  },
  'files and trees are removed': { run: ['rm a.txt; rm -r dir'], changes: ['/a.txt: gone', '/dir: gone'] },
  'what a command made the next one removes': { run: ['mkdir x; echo 1 > x/y', 'rm -r x'], changes: [] },
  'a directory is made anew': {
    run: ['rm -r dir; mkdir dir; echo 3 > dir/three; echo 1 > dir/one'],
    changes: ['/dir/one: file 644 "1\\n"', '/dir/sub: gone', '/dir/three: file 644 "3\\n"', '/dir/two: gone'],
  },
  'a directory in a directory is made anew': {
    run: ['rm -r dir/sub; mkdir dir/sub', 'rm -r dir; mkdir -p dir/sub; echo n > dir/sub/new'],
    changes: ['/dir/one: gone', '/dir/sub/deep: gone', '/dir/sub/new: file 644 "n\\n"', '/dir/two: gone'],
  },
  'a directory becomes a file': { run: ['rm -r dir; echo f > dir'], changes: ['/dir: file 644 "f\\n"'] },
  'a file becomes a directory': {
    run: ['rm a.txt; mkdir a.txt; echo b > a.txt/b'],
    changes: ['/a.txt/b: file 644 "b\\n"', '/a.txt: directory 755'],
  },
  'a file becomes a link and a link a file': {
    run: ['ln -sf twin a.txt; rm link; echo l > link'],
    changes: ['/a.txt: symlink twin', '/link: file 644 "l\\n"'],
  },
  'a link becomes a copy of the directory it led to': {
    run: ['cp -aL way copy; rm way; mv copy way'],
    changes: [
      '/way/one: file 644 "1\\n"',
      '/way/sub/deep: file 644 "d\\n"',
      '/way/sub: directory 755',
      '/way/two: file 644 "2\\n"',
      '/way: directory 755',
    ],
  },
  'a file and a directory are renamed': {
    run: ['mv a.txt b.txt; mv dir/sub sub'],
    changes: [
      '/a.txt: gone',
      '/b.txt: file 644 "alpha\\n"',
      '/dir/sub: gone',
      '/sub/deep: file 644 "d\\n"',
      '/sub: directory 755',
    ],
  },
  'permissions alone change': {
    run: ['chmod 600 a.txt; chmod 700 dir'],
    changes: ['/a.txt: file 600 "alpha\\n"', '/dir: directory 700'],
  },
  'a time alone changes': { run: ['touch -d 2001-01-01 a.txt'], changes: ['/a.txt: file 644 "alpha\\n"'] },
  'content changes behind the same size and time': {
    run: ['printf alphb > a.txt; echo >> a.txt; touch -d @1000000000 a.txt'],
    changes: ['/a.txt: file 644 "alphb\\n"'],
  },
  'a file is opened to be written, and is not': { run: [': >> a.txt'], changes: [] },
  'a file is replaced by its equal': { run: ['cp -p a.txt t; rm a.txt; mv t a.txt'], changes: [] },
  'a file gets a second name': { run: ['ln a.txt b.txt'], changes: ['/b.txt: file 644 is /a.txt'] },
  'a file gets a second name that sorts before the first': {
    run: ['touch a.txt twin; ln twin bin'],
    changes: ['/a.txt: file 644 "alpha\\n"', '/bin: file 644 "t\\n"', '/twin: file 644 is /bin'],
  },
  'a new file has two names': {
    run: ['echo x > p; ln p q'],
    changes: ['/p: file 644 "x\\n"', '/q: file 644 is /p'],
  },
  'a file that had two names is changed through one': {
    run: ['echo u >> twin2'],
    changes: ['/twin2: file 644 "t\\nu\\n"'],
  },
  'names are odd': {
    run: [
      `rm odd*; echo 1 > -n; echo 2 > 'a b'; echo 3 > "q'\\""; echo 4 > é; mkdir 'x\n'; echo 5 > 'x\n/\\'`,
    ],
    changes: [
      '/-n: file 644 "1\\n"',
      '/a b: file 644 "2\\n"',
      '/odd\nname: gone',
      `/q'": file 644 "3\\n"`,
      '/x\n/\\: file 644 "5\\n"',
      '/x\n: directory 755',
      '/é: file 644 "4\\n"',
    ],
  },
  'a file is large and has holes': {
    run: [`truncate -s ${LARGE - 4} big; echo end >> big`],
    changes: [`/big: file 644 ${LARGE} ${hashOfLarge()}`],
  },
  'a pipe is made': {
    run: ['mkfifo p; mkdir q; mkfifo q/p'],
    changes: ['/p: other 644', '/q/p: other 644', '/q: directory 755'],
  },
  'nobody may enter or read': {
    run: ['mkdir shut; echo s > shut/s; chmod 0 shut/s shut', 'test -e a.txt'],
    changes: ['/shut/s: file 0 "s\\n"', '/shut: directory 0'],
  },
}

function hashOfLarge(): string {
  const content = Buffer.alloc(LARGE)
  content.write('end\n', LARGE - 4)
  return createHash('sha256').update(content).digest('hex').slice(0, 8)
}

const runs = Object.fromEntries(Object.entries(scenarios).map(([name, { run }]) => [name, run]))
let place = ''
const withoutOverlay = whyNoOverlay()

beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'coppice-session-'))
})

afterAll(() => rmSync(place, { recursive: true, force: true }))

const asRoot = whyNotNobody()
const withoutFuse = whyNoMount()

describe.each<{
  who: string
  runAll: () => Promise<Record<string, ScenarioChanges>>
  why: string | undefined
}>([
  { who: 'dir', runAll: () => runAll('dir'), why: undefined },
  { who: 'overlay', runAll: () => runAll('overlay'), why: withoutOverlay },
  { who: 'fuse', runAll: () => runAll('fuse'), why: withoutFuse },
  { who: 'overlay as nobody', runAll: () => runAllAsNobody('overlay'), why: asRoot ?? withoutOverlay },
  { who: 'fuse as nobody', runAll: () => runAllAsNobody('fuse'), why: asRoot ?? withoutFuse },
])('the changes of a session: $who', ({ runAll, why }) => {
  let reported: Record<string, ScenarioChanges> = {}
  beforeAll(async () => {
    if (why === undefined) reported = await runAll()
  })

  it.skipIf(why !== undefined).each(Object.entries(scenarios))(
    'are exact when %s',
    (name, { changes: expected }) => {
      expect(reported[name]?.[0]).toEqual([...expected].sort())
    },
  )

  it.skipIf(why !== undefined).each(Object.keys(scenarios))(
    'are there again in the next session, when %s',
    (name) => {
      expect(reported[name]?.[2]).toEqual(reported[name]?.[1].filter((line) => !line.includes(': other')))
    },
  )
})

const kinds: readonly CommandSession['kind'][] = [
  'dir',
  ...(withoutOverlay === undefined ? (['overlay'] as const) : []),
  ...(withoutFuse === undefined ? (['fuse'] as const) : []),
]

describe('any commands', () => {
  const name = fc.constantFrom(
    'a.txt',
    'dir',
    'dir/one',
    'dir/sub',
    'dir/sub/deep',
    'empty',
    'new',
    'dir/new',
    'link',
  )
  const step = fc.oneof(
    fc.tuple(fc.constantFrom('rm -rf', 'mkdir -p', 'chmod 700', 'touch -d @1000000000'), name),
    fc
      .tuple(fc.constantFrom('mv -fT', 'cp -aT', 'ln -fT', 'ln -sfT'), name, name)
      // What a directory copied into itself becomes depends on the order in which it is listed.
      .filter(([program, from, to]) => program !== 'cp -aT' || !to.startsWith(`${from}/`)),
    fc.tuple(fc.constantFrom('echo x >', 'echo y >>'), name),
  )

  const scripts = fc.array(fc.array(step, { minLength: 1, maxLength: 12 }), { minLength: 20, maxLength: 20 })

  it('leave the same changes in every kind of session', async () => {
    const property = fc.asyncProperty(scripts, async (each) => {
      const at = mkdtempSync(join(place, 'any-'))
      const scenarios = Object.fromEntries(each.map((steps, index) => [index, [scriptOf(steps)]]))
      const [first, ...others] = await oneByOne(kinds, async (kind) =>
        Object.values(await runScenarios({ kind, place: at, scenarios })).map(([changes]) => changes),
      )
      for (const other of others) expect(other).toEqual(first)
    })
    await fc.assert(property, { numRuns: 1, endOnFailure: true })
  })

  it('leave the same tree in a vault, whatever the kind of session', async () => {
    const property = fc.asyncProperty(scripts, async (each) => {
      // A second name may sort before the first, of which nothing else has changed.
      const linked = [['ln twin bin'], ['ln link also; ln a.txt dir/z']]
      const all = [...Object.values(runs), ...linked, ...each.map((steps) => [scriptOf(steps)])]
      const [first, ...others] = await oneByOne(kinds, (kind) => treeAfter(kind, all))
      for (const other of others) expect(other).toEqual(first)
    })
    await fc.assert(property, { numRuns: 1, endOnFailure: true })
  })

  function scriptOf(steps: readonly (readonly string[])[]): string {
    return steps.map((words) => `${words.join(' ')} 2>&-`).join('\n')
  }

  async function treeAfter(
    kind: CommandSession['kind'],
    commands: readonly (readonly string[])[],
  ): Promise<string[]> {
    const at = mkdtempSync(join(place, 'vault-'))
    await using line = await VaultLine.open(kind, seedBases(at, commands.length), at)
    await runEach(line.session, commands)
    await line.collect(await line.session.changes())
    return vaultTree(await line.home.posix('kept'))
  }
})

async function oneByOne<In, Out>(all: readonly In[], work: (one: In) => Promise<Out>): Promise<Out[]> {
  const done: Out[] = []
  for (const one of all) done.push(await work(one))
  return done
}

function runAll(kind: CommandSession['kind']): Promise<Record<string, ScenarioChanges>> {
  return runScenarios({ kind, place: mkdtempSync(join(place, 'own-')), scenarios: runs })
}

async function runAllAsNobody(kind: CommandSession['kind']): Promise<Record<string, ScenarioChanges>> {
  const own = mkdtempSync(join(place, 'nobody-'))
  chmodSync(place, 0o755)
  chownSync(own, NOBODY, NOBODY)
  const script = programFile('session-process')
  const run = JSON.stringify({ kind, place: own, scenarios: runs })
  return JSON.parse(runAsNobody(process.execPath, script, run))
}
