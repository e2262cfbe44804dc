import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { git } from '../support/git-repository.ts'
import { FakeAgent } from './fake-agent.ts'
import { Cli } from './run-cli.ts'

const BY = ['-c', 'user.name=a', '-c', 'user.email=b']
const COMMIT = `commit() { echo "$1" > "$1.txt"; git add -A; git ${BY.join(' ')} commit -q -m "$1"; }`

/** A repository with one commit on `main`. */
class Repository {
  readonly cli: Cli = new Cli()

  constructor() {
    git(['init', '-q', '-b', 'main', this.cli.files])
    this.commit('first')
  }

  git(...args: string[]): string {
    return git(['-C', this.cli.files, ...BY, ...args]).toString()
  }

  commit(name: string): void {
    writeFileSync(join(this.cli.files, `${name}.txt`), `${name}\n`)
    this.git('add', '-A')
    this.git('commit', '-q', '-m', name)
  }

  /** Runs a script in a fork, where `commit NAME` is a command. Returns what is printed about the changes. */
  async fork(name: string, script: string): Promise<string> {
    const run = await this.cli.run(['exec', '--fork', name, '-c', '--', `${COMMIT}; ${script}`])
    expect(run.code, run.stderr).toBe(0)
    return run.stderr
  }

  /** Lists the branches with their last commits. */
  branches(): string[] {
    return this.git('for-each-ref', '--format=%(refname:short) %(subject)', 'refs/heads').trim().split('\n')
  }

  /** Checks every object and ref, and that nothing differs from the index. */
  check(): void {
    expect(this.git('fsck', '--full', '--strict')).not.toMatch(/missing|corrupt|error/)
    expect(this.git('status', '--porcelain')).toBe('')
  }
}

describe('packed refs of a fork', () => {
  it('are exported with the commits that they name', async () => {
    const repository = new Repository()
    const { cli } = repository
    const printed = await repository.fork('f', 'git checkout -q -b feat; commit work; git pack-refs --all')
    expect(printed).toContain('git: 1 commit on feat, feat checked out\n')
    expect(await cli.ok('diff', 'f')).toMatch(/^git: 1 commit on feat, feat checked out\n/)
    await cli.ok('git', 'export', '.', '--vault', 'f')
    expect(repository.git('log', '--format=%s', 'f')).toBe('work\nfirst\n')
  })

  it('are exported after git has packed the objects too', async () => {
    const repository = new Repository()
    const printed = await repository.fork('f', 'commit one; git gc -q; commit two; git gc -q --prune=now')
    expect(printed).toContain('git: main moved\n')
    await repository.cli.ok('git', 'export', '.', '--vault', 'f')
    expect(repository.git('log', '--format=%s', 'f')).toBe('two\none\nfirst\n')
    repository.check()
  })

  it('are exported as they were before the fork, if a loose one is newer', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'old')
    repository.git('pack-refs', '--all')
    repository.commit('second')
    await repository.fork('f', 'git branch -q -D old; echo x > x.txt; git stash -q -u; git stash apply -q')
    await cli.ok('git', 'export', '.', '--vault', 'f')
    expect(repository.git('log', '--format=%s', 'f')).toBe('Apply the changes of f\nsecond\nfirst\n')
  })

  it('move, create and delete branches as loose ones do, and an undo takes that back', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'old')
    repository.git('branch', 'topic/same')
    repository.git('pack-refs', '--all')
    await repository.fork('f', 'git branch -q -D old; commit one; git branch topic/new; git gc -q')
    expect(await cli.ok('apply', 'f')).toContain('git: main moved, old deleted, topic/new created\n')
    const applied = ['main one', 'topic/new one', 'topic/same first']
    expect(repository.branches()).toEqual(applied)
    repository.check()
    const undone = await cli.ok('apply', 'f', '--undo')
    expect(undone).toContain('git: main moved, old created, topic/new deleted\n')
    expect(repository.branches()).toEqual(['main first', 'old first', 'topic/same first'])
    repository.check()
    await cli.ok('apply', 'f')
    expect(repository.branches()).toEqual(applied)
    repository.check()
  })

  it('are no change if they only became packed', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'topic/a')
    expect(await repository.fork('f', 'git pack-refs --all')).toMatch(/git: \d files? below \.git\n/)
    repository.commit('mine')
    await cli.ok('apply', 'f')
    expect(repository.branches()).toEqual(['main mine', 'topic/a first'])
    expect(existsSync(join(cli.files, '.git/packed-refs'))).toBe(false)
    repository.check()
  })

  it('do not hide commits that were made here, whose branch stays in conflict', async () => {
    const repository = new Repository()
    const { cli } = repository
    await repository.fork('f', 'commit one; git pack-refs --all')
    repository.commit('mine')
    repository.git('gc', '-q')
    const { code, stderr } = await cli.run(['apply', 'f'])
    expect([code, stderr]).toEqual([
      3,
      expect.stringContaining('/.git/refs/heads/main has other commits here'),
    ])
    expect(repository.branches()).toEqual(['main mine'])
    repository.check()
  })

  it('never name a path outside of the refs', async () => {
    const repository = new Repository()
    const { cli } = repository
    const id = repository.git('rev-parse', 'main').trim()
    const names = [
      'refs/../hooks/pre-commit',
      'refs/heads/../../config',
      'refs/heads/x.lock',
      'hooks/a',
      'refs//a',
    ]
    const lines = names.map((name) => `echo "${id} ${name}" >> .git/packed-refs`).join('; ')
    const config = readFileSync(join(cli.files, '.git/config'), 'utf8')
    await repository.fork('f', `${lines}; echo "${id} refs/heads/good" >> .git/packed-refs`)
    expect(await cli.ok('apply', 'f')).toContain('git: good created\n')
    expect(repository.branches()).toEqual(['good first', 'main first'])
    expect(existsSync(join(cli.files, '.git/hooks/pre-commit'))).toBe(false)
    expect(readFileSync(join(cli.files, '.git/config'), 'utf8')).toBe(config)
  })

  it('stay those of the fork while it is used again after an apply', async () => {
    const repository = new Repository()
    const { cli } = repository
    await repository.fork('f', 'commit one; git pack-refs --all')
    await cli.ok('apply', 'f')
    repository.git('gc', '-q')
    await repository.fork('f', 'commit two; git branch side; git gc -q')
    await cli.ok('apply', 'f')
    expect(repository.branches()).toEqual(['main two', 'side two'])
    repository.check()
    await cli.ok('apply', 'f', '--undo')
    expect(repository.branches()).toEqual(['main one'])
    repository.check()
  })

  it('are merged into another fork, and applied together with it', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'old')
    repository.git('pack-refs', '--all')
    await repository.fork('f', 'git checkout -q -b one; commit one; git checkout -q main; git gc -q')
    await repository.fork('g', 'git branch -q -D old; git branch two; git pack-refs --all')
    await cli.ok('merge', 'f', 'g')
    await cli.ok('apply', 'g')
    expect(repository.branches()).toEqual(['main first', 'one one', 'two first'])
    await cli.ok('apply', 'g', '--undo')
    expect(repository.branches()).toEqual(['main first', 'old first'])
    await cli.ok('apply', 'f', 'g', '--merge')
    expect(repository.branches()).toEqual(['main first', 'one one', 'two first'])
    repository.check()
  })
})

describe('refs that git packs in the directory', () => {
  it('do not block an undo of commits', async () => {
    const repository = new Repository()
    const { cli } = repository
    await repository.fork('f', 'commit one')
    await cli.ok('apply', 'f')
    repository.git('gc', '-q')
    expect(await cli.ok('apply', 'f', '--undo')).toContain('git: main moved\n')
    expect(repository.branches()).toEqual(['main first'])
    repository.check()
    await cli.ok('apply', 'f')
    expect(repository.branches()).toEqual(['main one'])
    repository.check()
  })

  it('are deleted by the undo of an apply that created them', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('tag', '-a', '-m', 'kept', 'v1')
    await repository.fork('f', `git branch feat; git ${BY.join(' ')} tag -a -m x v2; git branch topic/a`)
    await cli.ok('apply', 'f')
    repository.git('gc', '-q')
    expect(await cli.ok('apply', 'f', '--undo')).toContain(
      'git: feat deleted, topic/a deleted, tags/v2 deleted\n',
    )
    expect(repository.branches()).toEqual(['main first'])
    expect(repository.git('tag')).toBe('v1\n')
    expect(repository.git('show-ref', '-d', '--tags').trim().split('\n')).toHaveLength(2)
    repository.check()
  })

  it('do not block an apply, nor the undo of it', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'topic/a')
    repository.git('branch', 'old')
    await repository.fork('f', 'commit one; git branch topic/b; git branch -q -D old')
    repository.git('gc', '-q')
    expect(await cli.ok('apply', 'f')).toContain('git: 1 commit on main, old deleted, 1 commit on topic/b\n')
    expect(repository.branches()).toEqual(['main one', 'topic/a first', 'topic/b one'])
    repository.check()
    repository.git('gc', '-q')
    await cli.ok('apply', 'f', '--undo')
    expect(repository.branches()).toEqual(['main first', 'old first', 'topic/a first'])
    repository.check()
  })

  it('move as loose ones do if a fork rewrites their last commit', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.commit('second')
    repository.git('gc', '-q')
    await repository.fork('f', `git ${BY.join(' ')} commit -q --amend -m amended`)
    await cli.ok('apply', 'f')
    expect(repository.branches()).toEqual(['main amended'])
    await cli.ok('apply', 'f', '--undo')
    expect(repository.branches()).toEqual(['main second'])
    await repository.fork('g', `git ${BY.join(' ')} commit -q --amend -m other`)
    repository.commit('mine')
    repository.git('gc', '-q')
    expect(await cli.run(['apply', 'g'])).toMatchObject({ code: 3 })
    expect(repository.branches()).toEqual(['main mine'])
    repository.check()
  })

  it('are not written while git writes them', async () => {
    const repository = new Repository()
    const { cli } = repository
    repository.git('branch', 'old')
    repository.git('pack-refs', '--all')
    await repository.fork('f', 'git branch -q -D old; commit one')
    writeFileSync(join(cli.files, '.git/packed-refs.lock'), '')
    const { code, stderr } = await cli.run(['apply', 'f'])
    expect(code).not.toBe(0)
    expect(stderr).toContain('nothing was written')
    expect(stderr).toContain('packed-refs.lock')
    expect(repository.branches()).toEqual(['main first', 'old first'])
  })
})

describe('a timeline with packed refs', { timeout: 60_000 }, () => {
  /** A repository in which an agent commits, then a person packs. */
  async function commitThenPack(): Promise<FakeAgent> {
    const agent = new FakeAgent()
    agent.git('init', '-q', '-b', 'main')
    agent.write('a.txt', 'a\n')
    agent.git('add', '.')
    agent.git('commit', '-qm', 'first')
    agent.git('branch', 'topic/a')
    await agent.send('SessionStart', { source: 'startup' })
    await agent.send('UserPromptSubmit', { prompt: 'Commit.' })
    await agent.shell(`${COMMIT}; commit one; git branch feat; git branch -q -D topic/a; git branch topic/b`)
    await agent.send('Stop')
    agent.git('gc', '-q')
    return agent
  }
  const listBranches = (agent: FakeAgent) =>
    agent.git('for-each-ref', '--format=%(refname:short) %(subject)', 'refs/heads').trim().split('\n')

  it('shows no branch that was only packed, and undoes commits after that', async () => {
    const agent = await commitThenPack()
    const undone = await agent.cli.ok('undo')
    expect(undone).toContain('git: feat deleted, main moved, topic/a created, topic/b deleted\n')
    expect(listBranches(agent)).toEqual(['main first', 'topic/a first'])
    expect(agent.git('status', '--porcelain')).toBe('')
    expect(agent.git('fsck', '--full')).not.toMatch(/missing|error/)
    const listed = await agent.cli.ok('timeline')
    expect(listed.match(/main deleted/)).toBeNull()
    expect(listed).toMatch(/you, or another program, made 1 change\n +git: \d+ files below \.git\n/)
    await agent.cli.ok('redo')
    expect(listBranches(agent)).toEqual(['feat one', 'main one', 'topic/b one'])
    expect(agent.git('fsck', '--full')).not.toMatch(/missing|error/)
    await agent.cli.ok('undo')
    expect(listBranches(agent)).toEqual(['main first', 'topic/a first'])
  })

  it('undoes branches that an agent packed or deleted, and not those that a person moved', async () => {
    const agent = new FakeAgent()
    agent.git('init', '-q', '-b', 'main')
    agent.write('a.txt', 'a\n')
    agent.git('add', '.')
    agent.git('commit', '-qm', 'first')
    for (const name of ['old', 'other']) agent.git('branch', name)
    agent.git('pack-refs', '--all')
    await agent.send('SessionStart', { source: 'startup' })
    await agent.send('UserPromptSubmit', { prompt: 'Clean up.' })
    await agent.shell(`${COMMIT}; git branch -q -D old; commit one; git gc -q`)
    await agent.send('Stop')
    agent.git('branch', '-f', 'other', 'main')
    expect(await agent.cli.ok('undo')).toContain('git: main moved, old created\n')
    expect(listBranches(agent)).toEqual(['main first', 'old first', 'other one'])
    expect(agent.git('fsck', '--full')).not.toMatch(/missing|error/)
    await agent.cli.ok('redo')
    expect(listBranches(agent)).toEqual(['main one', 'other one'])
    agent.git('commit', '-q', '--allow-empty', '-m', 'mine')
    expect(await agent.cli.run(['undo'])).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('/.git/refs/heads/main was changed by you since'),
    })
  })
})
