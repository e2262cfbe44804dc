import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import git from 'isomorphic-git'
import http from 'isomorphic-git/http/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { nodeFs } from '../../../src/adapters/node-fs/index.ts'
import { type Home, openHome, type Vault } from '../../../src/backends/vault/index.ts'
import { readText } from '../../../src/vfs/index.ts'
import { GitServer, isGitServerInstalled } from './git-server.ts'

const author = { name: 'Anna', email: 'anna@example.org' }
const dir = '/project'

describe('isomorphic-git on a vault', () => {
  let home: Home
  let vault: Vault
  let place: string

  beforeEach(async () => {
    place = mkdtempSync(join(tmpdir(), 'node-fs-git-'))
    home = await openHome()
    vault = await home.createVault('work')
  })

  afterEach(async () => {
    await home.close()
    rmSync(place, { recursive: true, force: true })
  })

  /** Runs git itself on an export of the repository. */
  async function gitSays(...args: string[]): Promise<string> {
    const target = mkdtempSync(join(place, 'export-'))
    await home.export('work', target)
    return run(join(target, dir), ...args)
  }

  it('commits, branches, checks out and merges, and git finds no problem', async () => {
    const fs = nodeFs(vault)
    await git.init({ fs, dir, defaultBranch: 'main' })
    await fs.promises.writeFile(`${dir}/README.md`, '# Project\n')
    await fs.promises.mkdir(`${dir}/bin`)
    await fs.promises.writeFile(`${dir}/bin/run`, '#!/bin/sh\n', { mode: 0o755 })
    await fs.promises.symlink('README.md', `${dir}/docs`)
    await git.add({ fs, dir, filepath: '.' })
    await git.commit({ fs, dir, message: 'first', author })

    await git.branch({ fs, dir, ref: 'topic', checkout: true })
    await fs.promises.writeFile(`${dir}/topic.txt`, 'on the topic\n')
    await git.add({ fs, dir, filepath: 'topic.txt' })
    await git.commit({ fs, dir, message: 'second', author })

    await git.checkout({ fs, dir, ref: 'main' })
    expect(await vault.exists(`${dir}/topic.txt`)).toBe(false)
    await fs.promises.writeFile(`${dir}/main.txt`, 'on main\n')
    await git.add({ fs, dir, filepath: 'main.txt' })
    await git.commit({ fs, dir, message: 'third', author })
    await git.merge({ fs, dir, ours: 'main', theirs: 'topic', author })
    await git.checkout({ fs, dir, ref: 'main' })

    expect(await readText(vault, `${dir}/topic.txt`)).toBe('on the topic\n')
    expect((await git.log({ fs, dir }))[0]?.commit.parent).toHaveLength(2)
    expect(await gitSays('rev-list', '--count', 'HEAD')).toBe('4\n')
    expect(await gitSays('fsck', '--strict')).not.toMatch(/error|missing|corrupt/)
    expect(await gitSays('status', '--porcelain')).toBe('')
    expect(await gitSays('ls-tree', '-r', 'HEAD')).toMatch(/^100755 .*bin\/run$/m)
    expect(await gitSays('ls-tree', '-r', 'HEAD')).toMatch(/^120000 .*docs$/m)
  })

  it('lists changed, added and removed files since the last commit', async () => {
    const fs = nodeFs(vault)
    await git.init({ fs, dir, defaultBranch: 'main' })
    for (const name of ['same', 'changed', 'removed']) await fs.promises.writeFile(`${dir}/${name}`, name)
    await git.add({ fs, dir, filepath: '.' })
    await git.commit({ fs, dir, message: 'first', author })
    await fs.promises.writeFile(`${dir}/changed`, 'otherwise')
    await fs.promises.rm(`${dir}/removed`)
    await fs.promises.writeFile(`${dir}/new`, 'new')
    expect(await git.statusMatrix({ fs, dir })).toEqual([
      ['changed', 1, 2, 1],
      ['new', 0, 2, 0],
      ['removed', 1, 0, 1],
      ['same', 1, 1, 1],
    ])
  })

  it.skipIf(!isGitServerInstalled())('clones from a server into a fork, and pushes back', async () => {
    const upstream = join(place, 'upstream.git')
    run(place, 'init', '--bare', '--initial-branch=main', upstream)
    run(upstream, 'config', 'http.receivepack', 'true')
    const seed = join(place, 'seed')
    run(place, 'clone', '--quiet', upstream, seed)
    for (let index = 0; index < 40; index++) writeFileSync(join(seed, `file-${index}`), `content ${index}\n`)
    run(seed, 'add', '.')
    run(seed, 'commit', '--quiet', '-m', 'seed')
    run(seed, 'push', '--quiet', 'origin', 'HEAD:main')

    await using server = await GitServer.start(place)
    const fs = nodeFs(vault)
    await git.clone({ fs, http, dir, url: `${server.url}/upstream.git` })
    expect(await readText(vault, `${dir}/file-39`)).toBe('content 39\n')
    expect((await git.statusMatrix({ fs, dir })).filter(([, head, work]) => head !== work)).toEqual([])

    const fork = nodeFs(await home.fork('work', 'task'))
    await fork.promises.writeFile(`${dir}/file-0`, 'changed in a fork\n')
    await git.add({ fs: fork, dir, filepath: 'file-0' })
    await git.commit({ fs: fork, dir, message: 'from a fork', author })
    await git.push({ fs: fork, http, dir, remote: 'origin', ref: 'main' })

    run(seed, 'pull', '--quiet', 'origin', 'main')
    expect(readFileSync(join(seed, 'file-0'), 'utf8')).toBe('changed in a fork\n')
    expect(await readText(vault, `${dir}/file-0`)).toBe('content 0\n')
  })
})

function run(cwd: string, ...args: string[]): string {
  const identity = ['-c', `user.name=${author.name}`, '-c', `user.email=${author.email}`]
  return execFileSync('git', [...identity, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
