import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createReadOnlyLines, createTmpfsLines } from '../../src/workspace/isolation/batch-mounts.ts'
import { quoteWord } from '../../src/workspace/isolation/index.ts'
import { run, whyNoOverlay } from '../support/tools.ts'

const why = whyNoOverlay()
/** The last one is mounted twice. */
const NAMES = [
  'plain',
  'with space',
  'hash#',
  'line\nend',
  'back\\slash',
  'return\r',
  'wide\u3000space',
  "quote'",
  'é',
  'twice',
  'twice',
] as const
/** A `mount` that ignores a table of mounts (-a) and reports success. */
const LAZY_MOUNT = '#!/bin/sh\nfor word; do [ "$word" != -a ] || exit 0; done\nexec /bin/mount "$@"\n'

describe.skipIf(why !== undefined)(`mounts${why ? `: ${why}` : ''}`, () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'coppice-mounts-'))
    for (const name of ['bin', ...NAMES]) mkdirSync(join(directory, name), { recursive: true })
  })

  afterEach(() => {
    rmSync(directory, { recursive: true })
  })

  /** Mounts all of them in a namespace, runs the lines there, and says which can still be written to. */
  function writableAfter(lines: readonly string[], environment = ''): string {
    const mounting = NAMES.map((name) => `mount -t tmpfs none ${quoteWord(join(directory, name))}`)
    const looking = NAMES.map(
      (name) => `touch ${quoteWord(join(directory, name, 'file'))} 2>&- && echo ${quoteWord(name)} || :`,
    )
    const there = `cd ${quoteWord(directory)}`
    const script = ['set -e', there, ...mounting, environment, ...lines, ...looking].join('\n')
    return run('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script)
  }

  function linesFor(names: readonly string[]): string[] {
    return createReadOnlyLines(
      directory,
      names.map((name) => ({ path: join(directory, name), options: ['relatime'] })),
    )
  }

  function linesForAll(): string[] {
    return linesFor(NAMES)
  }

  /** The line after which another program is run for `mount`. */
  function insteadOfMount(program: string): string {
    writeFileSync(join(directory, 'bin/mount'), program, { mode: 0o755 })
    return `PATH=${quoteWord(join(directory, 'bin'))}:$PATH`
  }

  function countingMounts(): string {
    return insteadOfMount(
      `#!/bin/sh\necho >> ${quoteWord(join(directory, 'bin/calls'))}\nexec /bin/mount "$@"\n`,
    )
  }

  function calls(): number {
    return readFileSync(join(directory, 'bin/calls')).length
  }

  it('are all read-only, whatever their names', () => {
    expect(writableAfter([])).not.toBe('')
    expect(writableAfter(linesForAll())).toBe('')
  })

  it.each([...new Set(NAMES)])('are read-only also where a program says so and has left out %j', (name) => {
    const lines = linesFor(NAMES.filter((other) => other === name))
    const writable = writableAfter(lines, insteadOfMount(LAZY_MOUNT))
    expect(writable).not.toBe('')
    expect(writable).not.toContain(`${name}\n`)
  })

  it('are read-only also where the changes of a program cannot be determined', () => {
    writeFileSync(join(directory, 'bin/grep'), '#!/bin/sh\nexit 2\n', { mode: 0o755 })
    expect(writableAfter(linesForAll(), insteadOfMount(LAZY_MOUNT))).toBe('')
  })

  it('take one program for all that are the only one in their place', () => {
    expect(writableAfter(linesForAll(), countingMounts())).toBe('')
    expect(calls()).toBe(3)
  })

  describe('in memory', () => {
    const PLACES = [...new Set(NAMES), 'not there']
    /** Which of the directories still show what is in them. */
    const looking = NAMES.map(
      (name) => `[ ! -e ${quoteWord(join('./', name, 'file'))} ] || echo ${quoteWord(name)}`,
    )

    function shownAfter(instead = ''): string {
      for (const name of NAMES) writeFileSync(join(directory, name, 'file'), '')
      const mounts = PLACES.map((name) => ({ path: join(directory, name), options: ['size=4096'] }))
      const lines = createTmpfsLines(directory, 'memory', mounts)
      const script = ['set -e', `cd ${quoteWord(directory)}`, instead, ...lines, ...looking].join('\n')
      return run('unshare', '--user', '--map-root-user', '--mount', 'sh', '-c', script)
    }

    it('cover all directories that are there, whatever their names', () => {
      expect(shownAfter()).toBe('')
    })

    it('cover them also where a program says that it did what it has left out', () => {
      expect(shownAfter(insteadOfMount(LAZY_MOUNT))).toBe('')
    })

    it('take one program for all', () => {
      mkdirSync(join(directory, 'not there'))
      expect(shownAfter(countingMounts())).toBe('')
      expect(calls()).toBe(1)
    })
  })
})
