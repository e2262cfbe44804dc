import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { findHiddenPaths } from './command-confinement.ts'
import { secretPaths } from './secret-paths.ts'
import { resolveVisiblePaths, splitHiddenPaths } from './visible-paths.ts'

const isRoot = process.getuid?.() === 0
let home = ''

beforeAll(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-hidden-')))
  mkdirSync(join(home, '.ssh'))
  mkdirSync(join(home, '.config/gcloud'), { recursive: true })
  mkdirSync(join(home, 'project'))
  writeFileSync(join(home, '.npmrc'), 'token')
})

afterAll(() => {
  chmodSync(home, 0o700)
  rmSync(home, { recursive: true, force: true })
})

function findInHome(): string[] {
  return findHiddenPaths({ level: 'strict', userHome: home })
    .map(({ path }) => path)
    .filter((path) => path.startsWith(home))
    .sort()
}

const secrets = () => ['.config/gcloud', '.npmrc', '.ssh'].map((name) => join(home, name))

describe('the hidden paths of a home', () => {
  it('are the secrets that it has, also below other directories', () => {
    expect(findInHome()).toEqual(secrets())
  })

  it.skipIf(isRoot)('are found where the home can be entered, but not listed', () => {
    chmodSync(home, 0o300)
    expect(findInHome()).toEqual(secrets())
  })

  it('include the logins of agents', () => {
    const logins = ['.config/cursor', '.local/share/amp', '.copilot', '.config/github-copilot']
    expect(logins.filter((path) => !secretPaths.includes(path))).toEqual([])
  })

  it('leave out a directory that a profile shows, as that of Cursor does with its login', () => {
    const hidden = secretPaths.map((path) => ({ path: join(home, path) }))
    const shown = resolveVisiblePaths(
      [
        { path: join(home, '.config/cursor'), mode: 'copy', isDirectory: true },
        { path: join(home, '.config/cursor/auth.json'), mode: 'share', isDirectory: false },
      ],
      home,
      [],
    )
    const { whole, opened } = splitHiddenPaths(hidden, shown)
    const isCursor = ({ path }: { path: string }) => path.startsWith(join(home, '.config/cursor'))
    expect([...whole, ...opened].filter(isCursor)).toEqual([])
  })
})
