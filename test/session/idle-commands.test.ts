import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { openHome } from '../../src/backends/vault/index.ts'
import { Boundary } from '../../src/boundary/index.ts'
import { whyNoOverlay } from '../support/tools.ts'

const path = fc.constantFrom('a', 'd', 'd/x', 'd/y', 'd/e', 'd/e/z')
const edit = fc.oneof(
  path.map((at) => `mkdir -p "$(dirname ${at})" && echo '${at}' >> ${at}`),
  path.map((at) => `rm -rf ${at}`),
  path.map((at) => `mkdir -p ${at}`),
  path.map((at) => `chmod 700 ${at}`),
  fc.tuple(path, path).map(([from, to]) => `mv ${from} ${to}`),
  path.map((at) => `ln -sfn a ${at}`),
)
/** Shell lines; what cannot be done is left. */
const edits = fc
  .array(edit, { maxLength: 5 })
  .map((lines) => lines.map((line) => `{ ${line}; } 2>&-`).join('\n'))
const LOOK = "find . -mindepth 1 -printf '%p %y %m %l\\n' | sort; find . -type f | sort | xargs -r head -n 20"
/** Both sides make the same directory, with other permissions. */
const madeByBoth: [string, string, string] = ['', 'mkdir -p d/x', 'mkdir -p d/x; chmod 700 d']
const kinds = [
  { kind: 'dir', why: undefined },
  { kind: 'overlay', why: whyNoOverlay() },
] as const

/** A removed directory is where a fork's changes have nowhere to be. */
const removedAbove: [string, string, string] = [
  'mkdir d; echo 1 > d/x; echo 1 > d/y',
  'rm d/x; echo 2 > d/y; chmod 700 d',
  'rm -r d',
]

it.for(kinds)(
  'a command that changes nothing leaves what the next one sees, whatever happened before, in a $kind session',
  async ({ kind, why }, { skip }) => {
    if (why !== undefined) skip(why)
    const property = fc.asyncProperty(edits, edits, edits, async (first, inFork, later) => {
      const scratch = mkdtempSync(join(tmpdir(), 'coppice-idle-'))
      try {
        const project = join(scratch, 'project')
        mkdirSync(project)
        const change = (script: string) => execFileSync('sh', ['-c', `${script}\n:`], { cwd: project })
        await using home = await openHome({ path: join(scratch, 'home') })
        const boundary = await Boundary.open(home)
        const execute = async (shell: string) => {
          const request = { vault: project, command: { shell }, session: kind, isolation: 'none' } as const
          const { result } = await boundary.run(request, { env: { PATH: '/usr/bin:/bin' }, fork: 'task' })
          return result.stdout
        }
        change(first)
        await execute(`${inFork}\n:`)
        change(later)
        const seen = await execute(LOOK)
        expect(await execute(LOOK)).toBe(seen)
      } finally {
        rmSync(scratch, { recursive: true, force: true })
      }
    })
    await fc.assert(property, { numRuns: 12, examples: [removedAbove, madeByBoth] })
  },
)
