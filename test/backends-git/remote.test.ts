import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { openRemoteGit } from '../../src/backends/git/index.ts'
import { list, readText } from '../../src/vfs/index.ts'
import { GitHttpServer } from '../support/git-http-server.ts'
import { git, TestRepository } from '../support/git-repository.ts'

const scratch = mkdtempSync(join(tmpdir(), 'coppice-remote-'))
const repository = new TestRepository([
  { files: { 'a/one': 'one\n', 'a/two': 'two\n', 'b/three': 'three\n' } },
  { files: { 'a/one': 'ONE\n' } },
])
const server = new GitHttpServer(repository.path)
let url = ''

beforeAll(async () => {
  repository.git('config', 'uploadpack.allowFilter', 'true')
  repository.git('tag', 'v1', 'main~1')
  url = await server.start()
})

afterAll(async () => {
  await server[Symbol.asyncDispose]()
  repository[Symbol.dispose]()
  rmSync(scratch, { recursive: true, force: true })
})

function blobsIn(cache: string): number {
  const objects = git(['--git-dir', cache, 'cat-file', '--batch-all-objects', '--batch-check=%(objecttype)'])
  return objects
    .toString()
    .split('\n')
    .filter((type) => type === 'blob').length
}

describe('a remote repository', () => {
  it('is listed without content, and fetches a file when it is read', async () => {
    const cache = join(scratch, 'lazy')
    await using fs = await openRemoteGit(url, { cache })
    expect((await list(fs, '/a')).map(({ name }) => name)).toEqual(['one', 'two'])
    expect(blobsIn(cache)).toBe(0)
    expect(await readText(fs, '/a/one')).toBe('ONE\n')
    expect(blobsIn(cache)).toBe(1)
    const before = server.fetches
    expect(await readText(fs, '/a/one')).toBe('ONE\n')
    expect(server.fetches).toBe(before)
  })

  it('can be opened by several programs at once in one new cache', async () => {
    for (let round = 0; round < 5; round++) {
      const cache = join(scratch, `shared-${round}`)
      const opened = await Promise.all(Array.from({ length: 4 }, () => openRemoteGit(url, { cache })))
      for (const fs of opened) {
        expect(await readText(fs, '/a/one')).toBe('ONE\n')
        await fs[Symbol.asyncDispose]()
      }
    }
  })

  it('fetches everything below a prefix in one request', async () => {
    const cache = join(scratch, 'materialized')
    await using fs = await openRemoteGit(url, { cache, ref: 'v1' })
    const before = server.fetches
    await fs.materialize()
    expect(blobsIn(cache)).toBe(3)
    const once = server.fetches - before
    for await (const { path } of fs.walk('/')) await readText(fs, path)
    expect(server.fetches - before).toBe(once)
    // One request for the capabilities, and one for the pack.
    expect(once).toBeLessThanOrEqual(2)
  })

  it('shares a cache between commits, and stores no secret in it', async () => {
    const cache = join(scratch, 'shared')
    const authorization = 'Bearer secret-token'
    await using old = await openRemoteGit(url, { cache, ref: 'v1', authorization })
    await using now = await openRemoteGit(url, { cache, ref: 'main', authorization })
    expect(server.authorization).toBe(authorization)
    expect([await readText(old, '/a/one'), await readText(now, '/a/one')]).toEqual(['one\n', 'ONE\n'])
    expect(readFileSync(join(cache, 'config'), 'utf8')).not.toContain('secret-token')
  })

  it('refuses addresses other than HTTP, and names without a commit', async () => {
    const cache = join(scratch, 'refused')
    for (const bad of ['ext::sh -c id', repository.path, 'ssh://host/x', '--upload-pack=id', 'http://a b/'])
      await expect(openRemoteGit(bad, { cache }), bad).rejects.toMatchObject({ code: 'EINVAL' })
    for (const ref of ['-x', '+main:refs/heads/x', 'a..b', 'a b'])
      await expect(openRemoteGit(url, { cache, ref }), ref).rejects.toMatchObject({ code: 'EINVAL' })
    await expect(openRemoteGit(url, { cache, ref: 'nothing' })).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('reports that it cannot be reached', async () => {
    const cache = join(scratch, 'unreachable')
    await expect(openRemoteGit(`${url}-gone`, { cache })).rejects.toMatchObject({ code: 'EUNAVAILABLE' })
  })
})
