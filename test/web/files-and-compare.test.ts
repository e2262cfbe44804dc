import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readConfig, setConfig } from '../../src/config/index.ts'
import { readText } from '../../src/vfs/index.ts'
import type { WebContent } from '../../src/web-api/index.ts'
import { PIXEL } from './fixture-data.ts'
import { lines, openWebScene, SECRET } from './web-scene.ts'

describe('home', () => {
  it('lists directories with their forks, and vaults with theirs', async () => {
    const { home, client, project, exec } = await openWebScene()
    const fork = await exec('echo new > new.txt; echo x >> b.txt', 'task-1')
    const task = await home.fork('base', 'vault-task')
    await task.write('/more.txt', 'more\n')
    const { items, total, next } = await client.call('listTrees', {})
    expect(items).toMatchObject([
      { tree: `directory:${project}`, kind: 'directory', parent: null },
      { tree: `fork:${fork}`, kind: 'fork', parent: `directory:${project}`, changes: 2 },
      { tree: 'vault:base', kind: 'vault', parent: null, changes: null },
      { tree: 'vault:vault-task', kind: 'vault', parent: 'vault:base', changes: 1 },
      { tree: 'vault:zones' },
    ])
    expect([total, next]).toEqual([5, null])
    const first = await client.call('listTrees', { limit: 2 })
    const rest = await client.call('listTrees', { limit: 500, cursor: first.next ?? '' })
    expect([...first.items, ...rest.items]).toEqual(items)
    expect(await client.call('listWaiting', {})).toEqual({ approvals: [], questions: [], merges: [] })
  })

  it('refuses parameters that do not fit', async () => {
    const { client } = await openWebScene()
    for (const params of [{ limit: 0 }, { limit: 501 }, { limit: -1 }, { cursor: 'x' }, { more: 1 }])
      expect((await client.request('listTrees', params)).status, JSON.stringify(params)).toBe(400)
    expect((await client.request('listFiles', { tree: 'vault:boundary', path: '/' })).status).toBe(404)
    expect((await client.request('listFiles', { tree: 'directory:/etc', path: '/' })).status).toBe(404)
    expect((await client.request('readFile', { tree: 'vault:base', path: '/none' })).status).toBe(404)
  })
})

describe('files', () => {
  it('shows a tree and a file at any moment', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const before = await base.getLastRow()
    await base.write('/notes.txt', 'changed\n')
    await base.write('/dir/deep.txt', 'deep\n')
    await base.checkpoint('later')
    const now = await client.call('listFiles', { tree: 'vault:base', path: '/' })
    expect(now.items.map(({ name }) => name)).toEqual(['dir', 'notes.txt', 'other.txt'])
    const then = await client.call('listFiles', { tree: `vault:base~${before}`, path: '/' })
    expect(then.items.map(({ name }) => name)).toEqual(['notes.txt', 'other.txt'])
    const read = async (tree: string) => (await client.call('readFile', { tree, path: '/notes.txt' })).text
    expect(await read('vault:base')).toBe('changed\n')
    expect(await read(`vault:base~${before}`)).toBe(lines(1, 30))
    expect(await read('vault:base@later')).toBe('changed\n')
  })

  it('reads a long file in parts that join, and flags binary content', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const text = 'ünï line 🌱\n'.repeat(60_000)
    await base.write('/long.txt', text)
    await base.write('/one-line', '🌱'.repeat(200_000))
    await base.write('/bytes', new Uint8Array([1, 0, 2]))
    for (const [path, whole] of [
      ['/long.txt', text],
      ['/one-line', '🌱'.repeat(200_000)],
    ] as const) {
      let [joined, offset]: [string, number | null] = ['', 0]
      while (offset !== null) {
        const part: WebContent = await client.call('readFile', { tree: 'vault:base', path, offset })
        expect(part.text.length).toBeLessThanOrEqual(256 * 1024)
        joined += part.text
        offset = part.next
      }
      expect(joined === whole, path).toBe(true)
    }
    expect(await client.call('readFile', { tree: 'vault:base', path: '/bytes' })).toMatchObject({
      isBinary: true,
      text: '',
      next: null,
    })
  })

  it('reads images as they are in each tree, and nothing else as one', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    // Bytes that look like a secret are still those of the image.
    const before = Buffer.concat([Buffer.from(PIXEL, 'base64'), Buffer.from(SECRET)])
    await base.write('/logo.png', before)
    await base.write('/large.png', Buffer.concat([before, Buffer.alloc(8 * 1024 * 1024)]))
    const fork = await home.fork('base', 'task')
    await fork.write('/logo.png', Buffer.from(PIXEL, 'base64'))
    const read = (tree: string, path: string) => client.call('readImage', { tree, path })
    const expected = { mimeType: 'image/png', data: before.toString('base64') }
    expect(await read('vault:base', '/logo.png')).toEqual(expected)
    expect(await read('vault:task^', '/logo.png')).toEqual(expected)
    expect(await read('vault:task', '/logo.png')).toEqual({ mimeType: 'image/png', data: PIXEL })
    for (const path of ['/large.png', '/notes.txt', '/'])
      expect(await read('vault:base', path), path).toBeNull()
  })

  it('takes secrets out of files, diffs and searches', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const key = `-----BEGIN PRIVATE KEY-----\n${'QUJD'.repeat(16)}\n-----END PRIVATE KEY-----\n`
    await base.write('/config', `token = ${SECRET}\n${key}end\n`)
    const fork = await home.fork('base', 'task')
    await fork.write('/config', `token = ${SECRET}\nmore\n${key}end\n`)
    const pair = { from: 'vault:task^', to: 'vault:task' }
    const answers = [
      await client.call('readFile', { tree: 'vault:base', path: '/config' }),
      await client.call('getFileDiff', { ...pair, path: '/config' }),
      await client.call('searchFiles', { tree: 'vault:base', path: '/', query: 'token' }),
      await client.call('listBlame', { tree: 'vault:base', path: '/config' }),
    ]
    // A match is cut in the middle of the secret.
    await base.write('/long', `${'x'.repeat(480)} ${SECRET}\n`)
    const cut = await client.call('searchFiles', { tree: 'vault:base', path: '/', query: 'xxx' })
    expect(JSON.stringify(cut)).not.toContain(SECRET.slice(0, 10))
    for (const answer of answers) {
      const json = JSON.stringify(answer)
      expect(json).not.toContain(SECRET)
      expect(json).toContain('redacted')
    }
    expect(JSON.stringify(answers.slice(0, 2))).not.toContain('QUJDQUJD')
    expect(answers[0]).toMatchObject({ isRedacted: true })
  })

  it('compares texts that are too long for the thread of the server', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const long = Array.from({ length: 60_000 }, (_, index) => `line ${index}\n`)
    await base.write('/long', long.join(''))
    const fork = await home.fork('base', 'task')
    await fork.write(
      '/long',
      long.map((line, index) => (index % 20_000 === 7 ? `token = ${SECRET}\n` : line)).join(''),
    )
    const query = { from: 'vault:task^', to: 'vault:task', path: '/long' }
    const [diff, again] = await Promise.all([
      client.call('getFileDiff', query),
      client.call('getFileDiff', query),
    ])
    expect(again).toEqual(diff)
    expect(diff.total).toBe(3)
    expect(diff.hunks.map(({ oldStart }) => oldStart)).toEqual([5, 20_005, 40_005])
    expect(diff.hunks[1]?.lines.map(({ kind, text }) => [kind, text])).toEqual([
      ...[20_004, 20_005, 20_006].map((index) => ['context', `line ${index}`]),
      ['removed', 'line 20007'],
      ['added', 'token = [redacted]'],
      ...[20_008, 20_009, 20_010].map((index) => ['context', `line ${index}`]),
    ])
  })

  it('has versions, blame, search, journal and checkpoints with their authors', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const caller = { kind: 'process', pid: 7, context: 'agent-x' } as const
    await base.write('/notes.txt', `${lines(1, 30)}added by a process\n`, {}, { caller })
    await base.checkpoint('step-2')
    const versions = await client.call('listVersions', { tree: 'vault:base', path: '/notes.txt' })
    expect(versions.items).toHaveLength(2)
    expect(versions.items[0]).toMatchObject({ author: { kind: 'process', pid: 7, step: 2 } })
    const blame = await client.call('listBlame', { tree: 'vault:base', path: '/notes.txt', limit: 500 })
    expect(blame.items.at(-1)).toMatchObject({
      line: 31,
      text: 'added by a process',
      author: { pid: 7, step: 2 },
    })
    const found = await client.call('searchFiles', {
      tree: 'vault:base',
      path: '/',
      query: 'LINE 2',
      ignoreCase: true,
      limit: 5,
    })
    expect(found.isCut).toBe(true)
    expect(found.matches[0]).toEqual({ path: '/notes.txt', line: 2, text: 'line 2' })
    const journal = await client.call('listJournal', { tree: 'vault:base', limit: 2 })
    expect(journal.items[0]).toMatchObject({ op: 'write', path: '/notes.txt', author: { pid: 7 } })
    const { items } = await client.call('listCheckpoints', { tree: 'vault:base' })
    expect(items).toMatchObject([{ name: 'step-2', seq: await base.getLastRow() }])
    const { first, last, buckets, checkpoints } = await client.call('getJournalBuckets', {
      tree: 'vault:base',
      count: 2,
    })
    expect([first, last]).toEqual([1, await base.getLastRow()])
    expect(buckets.reduce((sum, { rows }) => sum + rows, 0)).toBe(last)
    expect(buckets.length).toBeLessThanOrEqual(2)
    expect(checkpoints).toHaveLength(1)
    const closer = await client.call('getJournalBuckets', { tree: 'vault:base', from: last, to: last })
    expect(closer.checkpoints, 'outside of the range too').toEqual(checkpoints)
  })

  it('restores a vault to a checkpoint, and a file to a version', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    await client.call('createCheckpoint', { tree: 'vault:base', name: 'good' })
    await base.write('/notes.txt', 'bad\n')
    const [, old] = (await client.call('listVersions', { tree: 'vault:base', path: '/notes.txt' })).items
    await client.call('revertFile', { tree: 'vault:base', path: '/notes.txt', version: old?.version ?? '' })
    expect(await readText(base, '/notes.txt')).toBe(lines(1, 30))
    await base.write('/notes.txt', 'worse\n')
    const preview = await client.call('listChanges', { from: 'vault:base', to: 'vault:base@good' })
    expect(preview.items.map(({ path }) => path)).toEqual(['/notes.txt'])
    await client.call('restoreTree', { tree: 'vault:base@good' })
    expect(await readText(base, '/notes.txt')).toBe(lines(1, 30))
    await expect(client.call('restoreTree', { tree: 'vault:base' })).rejects.toMatchObject({ code: 'EINVAL' })
  })

  it('restores a vault to any moment of its journal, also back again', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    await base.write('/dir/deep/a.txt', 'a\n')
    const row = await base.getLastRow()
    await base.rename('/dir', '/moved')
    await base.write('/notes.txt', 'changed\n')
    await base.remove('/other.txt')
    await base.write('/new/b.txt', 'b\n')
    const tree = `vault:base~${row}`
    const last = await base.getLastRow()
    await client.call('restoreTree', { tree })
    expect((await client.call('listChanges', { from: tree, to: 'vault:base' })).items).toEqual([])
    expect(await readText(base, '/dir/deep/a.txt')).toBe('a\n')
    await client.call('restoreTree', { tree: `vault:base~${last}` })
    expect(await readText(base, '/notes.txt')).toBe('changed\n')
    expect(await home.vaults()).toEqual(['base', 'boundary', 'zones'])
    const blame = await client.call('listBlame', { tree, path: '/notes.txt', limit: 1 })
    expect(blame.items[0]?.text).toBe('line 1')
    const versions = await client.call('listVersions', { tree, path: '/notes.txt' })
    expect(versions.items).toHaveLength(1)
  })

  it('shows a fork of a directory as a command in it sees it, now and at earlier moments', async () => {
    const { home, client, project, exec } = await openWebScene()
    const fork = await exec('echo one > new.txt; rm b.txt', 'task-1')
    const row = await (await home.vault(fork)).getLastRow()
    await exec('echo two > new.txt; echo s >> src/main.ts', fork)
    const names = async (tree: string) =>
      (await client.call('listFiles', { tree, path: '/' })).items.map(({ name }) => name)
    expect(await names(`fork:${fork}`)).toEqual(['src', 'a.txt', 'new.txt'])
    expect(await names(`fork:${fork}^`)).toEqual(['src', 'a.txt', 'b.txt'])
    expect(await names(`directory:${project}`)).toEqual(['src', 'a.txt', 'b.txt'])
    const read = async (tree: string, path: string) => (await client.call('readFile', { tree, path })).text
    expect(await read(`fork:${fork}`, '/new.txt')).toBe('two\n')
    expect(await read(`fork:${fork}~${row}`, '/new.txt')).toBe('one\n')
    expect(await read(`fork:${fork}~${row}`, '/src/main.ts')).toBe('export const one = 1\n')
    expect(await read(`fork:${fork}`, '/a.txt')).toBe(lines(1, 30))
    await expect(read(`fork:${fork}`, '/b.txt')).rejects.toMatchObject({ code: 'ENOENT' })
  })
})

describe('compare', () => {
  const edit = (text: string) =>
    text
      .replace('line 3\n', 'line three\n')
      .replace('line 15\n', 'line fifteen\n')
      .replace('line 28\n', 'line twenty-eight\n')

  it('lists changes and hunks with line numbers', async () => {
    const { home, client } = await openWebScene()
    const fork = await home.fork('base', 'task')
    await fork.write('/notes.txt', edit(lines(1, 30)))
    await fork.rename('/other.txt', '/moved.txt')
    const pair = { from: 'vault:task^', to: 'vault:task' }
    const { items } = await client.call('listChanges', { ...pair, lines: true })
    expect(items).toMatchObject([
      { path: '/moved.txt', kind: 'renamed', from: '/other.txt', lines: { added: 0, removed: 0 } },
      { path: '/notes.txt', kind: 'modified', lines: { added: 3, removed: 3 } },
    ])
    const { hunks, total, next } = await client.call('getFileDiff', { ...pair, path: '/notes.txt' })
    expect([hunks.length, total, next]).toEqual([3, 3, null])
    expect(hunks[0]).toMatchObject({ index: 0, oldStart: 1, newStart: 1, oldCount: 6, newCount: 6 })
    expect(hunks[0]?.lines[2]).toEqual({ kind: 'removed', text: 'line 3', old: 3, new: null })
    expect(hunks[0]?.lines[3]).toEqual({ kind: 'added', text: 'line three', old: null, new: 3 })
  })

  it('cuts a hunk that is too long so that both sides are in it', async () => {
    const { home, client } = await openWebScene()
    const fork = await home.fork('base', 'task')
    await home.vault('base').then((base) => base.write('/long', lines(1, 4000)))
    await fork.write('/long', lines(1, 4000))
    await fork.checkpoint('before')
    const countKinds = async (content: string) => {
      await fork.write('/long', content)
      const { hunks } = await client.call('getFileDiff', {
        from: 'vault:task@before',
        to: 'vault:task',
        path: '/long',
      })
      const kinds = hunks[0]?.lines.map(({ kind }) => kind) ?? []
      return [kinds.indexOf('added'), kinds.length, hunks[0]?.isCut]
    }
    expect(await countKinds(lines(5001, 9000))).toEqual([1000, 2000, true])
    expect(await countKinds('one\n')).toEqual([1999, 2000, true])
    expect(await countKinds('')).toEqual([-1, 2000, true])
  })

  it('lists what git keeps by itself last, and counts it as no overlap', async () => {
    const { home, client } = await openWebScene()
    for (const name of ['one', 'two']) {
      const fork = await home.fork('base', name)
      for (const path of ['/.git/index', '/.git/refs/heads/main', '/.git/hooks/pre-commit', '/notes.txt'])
        await fork.write(path, name, { parents: true })
    }
    const { items } = await client.call('listChanges', { from: 'vault:one^', to: 'vault:one' })
    expect(items.map(({ path }) => path)).toEqual([
      '/.git/hooks/pre-commit',
      '/notes.txt',
      '/.git/index',
      '/.git/refs/heads/main',
    ])
    const overlap = await client.call('listOverlap', { tree: 'vault:base' })
    expect(overlap.items.map(({ path }) => path)).toEqual([
      '/.git/hooks/pre-commit',
      '/.git/refs/heads/main',
      '/notes.txt',
    ])
  })

  it('merges two of three hunks into a vault, and undoes that', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const fork = await home.fork('base', 'task')
    await fork.write('/notes.txt', edit(lines(1, 30)))
    await fork.write('/unwanted.txt', 'u\n')
    await base.write('/meanwhile.txt', 'm\n')
    const { digest } = await client.call('getFileDiff', {
      from: 'vault:task^',
      to: 'vault:task',
      path: '/notes.txt',
    })
    const params = {
      source: 'vault:task',
      into: 'vault:base',
      selection: [{ path: '/notes.txt', hunks: [0, 2], digest }],
    }
    expect(await client.call('merge', params)).toEqual({ isMerged: true, changes: 1 })
    const merged = edit(lines(1, 30)).replace('line fifteen\n', 'line 15\n')
    expect(await readText(base, '/notes.txt')).toBe(merged)
    expect(await base.exists('/unwanted.txt')).toBe(false)
    expect(await home.vaults()).not.toContainEqual(expect.stringContaining('session-'))
    await client.call('undoMerge', { tree: 'vault:base' })
    expect(await readText(base, '/notes.txt')).toBe(lines(1, 30))
    await expect(
      client.call('merge', {
        ...params,
        selection: [
          { path: '/notes.txt', hunks: [0], digest: digest.replace(/^./, (c) => (c === '0' ? '1' : '0')) },
        ],
      }),
    ).rejects.toMatchObject({ code: 'ECONFLICT' })
  })

  it('merges all but one of many files, with what was renamed and deleted among them', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    await base.write('/m/gone.txt', 'gone\n')
    await base.write('/m/old.txt', 'kept content\n')
    const fork = await home.fork('base', 'task')
    const paths = Array.from({ length: 300 }, (_, index) => `/m/d${index % 7}/f${index}.txt`)
    await Promise.all(paths.map((path) => fork.write(path, `${path}\n`)))
    await fork.rename('/m/old.txt', '/m/d3/new.txt')
    await fork.remove('/m/gone.txt')
    const pair = { from: 'vault:task^', to: 'vault:task' }
    const { items } = await client.call('listChanges', { ...pair, limit: 500 })
    const selection = items.map(({ path }) => ({ path })).filter(({ path }) => path !== '/m/d0/f0.txt')
    expect(selection).toHaveLength(paths.length - 1 + 2)
    const merged = await client.call('merge', { source: 'vault:task', into: 'vault:base', selection })
    expect(merged).toEqual({ isMerged: true, changes: selection.length })
    for (const path of paths.slice(1)) expect(await readText(base, path)).toBe(`${path}\n`)
    expect(await readText(base, '/m/d3/new.txt')).toBe('kept content\n')
    for (const path of ['/m/gone.txt', '/m/old.txt', '/m/d0/f0.txt'])
      expect(await base.exists(path), path).toBe(false)
  })

  it('applies two of three hunks and a file to a directory, and undoes that', async () => {
    const { client, project, exec } = await openWebScene()
    const file = join(project, 'a.txt')
    const fork = await exec(
      `sed -i 's/^line 3$/line three/; s/^line 15$/line fifteen/; s/^line 28$/line twenty-eight/' a.txt; echo n > n.txt; rm b.txt`,
    )
    const pair = { from: `fork:${fork}^`, to: `fork:${fork}` }
    const listed = await client.call('listChanges', pair)
    expect(listed.items.map(({ kind, path }) => `${kind} ${path}`)).toEqual([
      'modified /a.txt',
      'deleted /b.txt',
      'added /n.txt',
    ])
    const { digest } = await client.call('getFileDiff', { ...pair, path: '/a.txt' })
    const params = {
      source: `fork:${fork}`,
      into: `directory:${project}`,
      selection: [{ path: '/a.txt', hunks: [0, 1], digest }, { path: '/n.txt' }],
    }
    expect(await client.call('merge', params)).toEqual({ isMerged: true, changes: 2 })
    expect(readFileSync(file, 'utf8')).toBe(edit(lines(1, 30)).replace('line twenty-eight\n', 'line 28\n'))
    expect(readFileSync(join(project, 'b.txt'), 'utf8')).toBe('b\n')
    const left = await client.call('listChanges', pair)
    expect(left.items.map(({ path }) => path)).toEqual(['/a.txt', '/b.txt'])
    await client.call('undoMerge', { tree: `fork:${fork}`, isApply: true })
    expect(readFileSync(file, 'utf8')).toBe(lines(1, 30))
    await client.call('createCheckpoint', { tree: `fork:${fork}`, name: 'tried', description: 'it works' })
    const { items: checkpoints } = await client.call('listCheckpoints', { tree: `fork:${fork}` })
    expect(checkpoints).toMatchObject([{ name: 'tried', description: 'it works' }])
    await client.call('dropFork', { tree: `fork:${fork}` })
    expect((await client.call('listTrees', {})).items.map(({ tree }) => tree)).not.toContain(`fork:${fork}`)
  })

  it('drops the current vault, and selects the one that it was forked from', async () => {
    const { home, client, project, exec } = await openWebScene()
    const path = home.path ?? ''
    await home.fork('base', 'task')
    await setConfig(path, 'vault', 'task')
    await client.call('dropFork', { tree: 'vault:task' })
    expect((await readConfig(path)).vault).toBe('base')
    const fork = await exec('echo n > n.txt')
    await setConfig(path, 'vault', fork)
    await client.call('dropFork', { tree: `fork:${fork}` })
    expect((await readConfig(path)).vault, `no vault is a copy of ${project}`).toBeUndefined()
  })

  it('resolves conflicts by a side and by an edited text', async () => {
    const { home, client } = await openWebScene()
    const base = await home.vault('base')
    const fork = await home.fork('base', 'task')
    const by = { caller: { kind: 'process', pid: 3, context: 'agent-y' } } as const
    for (const path of ['/notes.txt', '/other.txt']) {
      await fork.write(path, (await readText(fork, path)).replace(/^.*\n/, 'theirs\n'), {}, by)
      await base.write(path, (await readText(base, path)).replace(/^.*\n/, 'ours\n'))
    }
    const params = { source: 'vault:task', into: 'vault:base', selection: 'all' as const }
    expect(await client.call('merge', params)).toMatchObject({
      isMerged: false,
      conflicts: [
        { path: '/notes.txt', hasText: true },
        { path: '/other.txt', hasText: true },
      ],
    })
    const sides = await client.call('getConflict', { ...params, path: '/notes.txt' })
    expect(sides.ours.text.split('\n')[0]).toBe('ours')
    expect(sides.theirs.text.split('\n')[0]).toBe('theirs')
    expect(sides.base.text.split('\n')[0]).toBe('line 1')
    expect(sides.merged.text).toContain('<<<<<<<')
    expect(sides.theirsBy[0]).toMatchObject({ kind: 'process', pid: 3 })
    const resolutions = [
      { path: '/notes.txt', text: 'edited\n', digest: sides.digest },
      { path: '/other.txt', take: 'theirs' as const },
    ]
    expect(await client.call('merge', { ...params, resolutions })).toMatchObject({ isMerged: true })
    expect(await readText(base, '/notes.txt')).toBe('edited\n')
    expect(await readText(base, '/other.txt')).toBe('theirs\n')
  })

  it('compares forks with each other, with the directory, and finds paths that both change', async () => {
    const { client, project, exec } = await openWebScene()
    const one = await exec('echo 1 > b.txt; echo 1 > only-one.txt', 'one')
    const two = await exec('echo 2 > b.txt', 'two')
    writeFileSync(join(project, 'a.txt'), 'changed by a person\n')
    const list = async (from: string, to: string) =>
      (await client.call('listChanges', { from, to })).items.map(({ kind, path }) => `${kind} ${path}`)
    expect(await list(`fork:${one}`, `fork:${two}`)).toEqual(['modified /b.txt', 'deleted /only-one.txt'])
    expect(await list(`directory:${project}`, `fork:${one}`)).toEqual([
      'modified /b.txt',
      'added /only-one.txt',
    ])
    const { items } = await client.call('listOverlap', { tree: `directory:${project}` })
    expect(items).toEqual([{ path: '/b.txt', trees: [`fork:${one}`, `fork:${two}`] }])
    expect(
      await client.call('merge', { source: `fork:${one}`, into: `fork:${two}`, selection: 'all' }),
    ).toMatchObject({ isMerged: false, conflicts: [{ path: '/b.txt' }] })
    const resolutions = [{ path: '/b.txt', take: 'theirs' as const }]
    expect(
      await client.call('merge', {
        source: `fork:${one}`,
        into: `fork:${two}`,
        selection: 'all',
        resolutions,
      }),
    ).toMatchObject({ isMerged: true })
    expect((await client.call('readFile', { tree: `fork:${two}`, path: '/b.txt' })).text).toBe('1\n')
  })
})
