import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findWorktreeRepository, listRepositoryPaths } from './linked-worktree.ts'

/** A repository `main` and its linked worktree `linked`, in a home directory. */
function scene(): { readonly home: string; readonly linked: string; readonly repository: string } {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'coppice-worktree-')))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const [main, linked] = [join(home, 'main'), join(home, 'linked')]
  mkdirSync(main)
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=n', '-c', 'user.email=e', ...args], { cwd: main })
  git('init', '-q')
  git('commit', '-q', '--allow-empty', '-m', 'one')
  git('worktree', 'add', '-q', linked)
  return { home, linked, repository: join(main, '.git') }
}

it('finds the repository of a linked worktree, and that of nothing else', () => {
  const { home, linked, repository } = scene()
  expect(findWorktreeRepository(linked)).toBe(repository)
  expect(findWorktreeRepository(join(home, 'main'))).toBeUndefined()
  expect(findWorktreeRepository(home)).toBeUndefined()
  expect(findWorktreeRepository(join(home, 'missing'))).toBeUndefined()
})

it('does not follow a file that the repository does not name', () => {
  const { home, linked, repository } = scene()
  const forged = join(home, 'forged')
  cpSync(linked, forged, { recursive: true })
  expect(findWorktreeRepository(forged)).toBeUndefined()
  for (const target of [repository, home, '/etc', '', 'x\ny']) {
    writeFileSync(join(forged, '.git'), `gitdir: ${target}\n`)
    expect(findWorktreeRepository(forged), target).toBeUndefined()
  }
  // A worktree that names itself cannot choose what is shared.
  const own = join(forged, 'worktrees/own')
  mkdirSync(own, { recursive: true })
  writeFileSync(join(own, 'gitdir'), `${join(forged, '.git')}\n`)
  writeFileSync(join(own, 'commondir'), `${home}\n`)
  writeFileSync(join(forged, '.git'), `gitdir: ${own}\n`)
  expect(findWorktreeRepository(forged)).toBeUndefined()
})

it('shows a repository below the home directory only, and only where it is not hidden', () => {
  const { home, linked, repository } = scene()
  const plan = { level: 'auto', userHome: home } as const
  expect(listRepositoryPaths(linked, plan)).toEqual([{ path: repository, mode: 'read', isDirectory: true }])
  expect(listRepositoryPaths(linked, { ...plan, level: 'none' })).toEqual([])
  expect(listRepositoryPaths(linked, { ...plan, hidden: [join(home, 'main')] })).toEqual([])
  expect(listRepositoryPaths(linked, { ...plan, hidden: [join(repository, 'objects')] })).toEqual([])
  expect(listRepositoryPaths(linked, { ...plan, userHome: linked })).toEqual([])
})
