import { execFileSync } from 'node:child_process'
import * as host from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { HostFs } from '../../backends/host/index.ts'
import { readText } from '../../vfs/index.ts'
import { HostFiles, type HostFilesOptions } from './index.ts'

let scratch: string
let app: string
let opened: HostFiles[]

beforeEach(() => {
  scratch = host.mkdtempSync(join(host.realpathSync(tmpdir()), 'host-files-'))
  app = join(scratch, 'app')
  opened = []
  for (const directory of ['app/src', 'app2', 'lib', 'outside']) {
    host.mkdirSync(join(scratch, directory), { recursive: true })
  }
  host.writeFileSync(join(app, 'src/main.ts'), 'main')
  host.writeFileSync(join(scratch, 'app2/secret'), 'SECRET')
  host.writeFileSync(join(scratch, 'outside/secret'), 'SECRET')
  host.writeFileSync(join(scratch, 'lib/tool.ts'), 'tool')
})

afterEach(async () => {
  for (const files of opened) await files.close()
  host.rmSync(scratch, { recursive: true, force: true })
})

function hostFiles(options: Partial<HostFilesOptions> = {}): HostFiles {
  const files = new HostFiles({ allow: [app], open: (directory) => new HostFs(directory), ...options })
  opened.push(files)
  return files
}

async function read(files: HostFiles, path: string): Promise<string> {
  const place = await files.locate(path)
  return readText(place.fs, place.path)
}

async function write(files: HostFiles, path: string, content: string): Promise<void> {
  const place = await files.locate(path)
  await place.fs.write(place.path, content)
}

describe('a path of this machine', () => {
  it('resolves to its real path in an allowed directory, and is shown as given', async () => {
    host.symlinkSync('src', join(app, 'current'))
    const files = hostFiles()
    const asked = join(app, 'current/main.ts')
    expect(await files.locate(asked)).toMatchObject({ path: join(app, 'src/main.ts'), display: asked })
    expect(await read(files, asked)).toBe('main')
  })

  it('may name a missing file, which a write creates there', async () => {
    const files = hostFiles()
    await write(files, join(app, 'new/notes.md'), 'hello')
    expect(host.readFileSync(join(app, 'new/notes.md'), 'utf8')).toBe('hello')
  })

  it('is refused outside by whole names, and the refusal lists the allowed directories', async () => {
    const files = hostFiles()
    for (const path of [
      `${app}2/secret`,
      `${app}2`,
      scratch,
      '/',
      '/etc/passwd',
      join(scratch, 'outside/secret'),
    ]) {
      await expect(files.locate(path)).rejects.toMatchObject({
        code: 'EACCES',
        path,
        message: expect.stringContaining(`allowed: ${app},`),
      })
    }
  })

  it('is refused with the same message whether it exists or not', async () => {
    const files = hostFiles()
    const refusal = (path: string) =>
      files.locate(path).then(
        () => 'found',
        (error: Error) => error.message.replaceAll(path, ''),
      )
    host.symlinkSync('loop', join(scratch, 'loop'))
    const there = await refusal(join(scratch, 'outside/secret'))
    for (const path of ['outside/missing', 'missing/file', 'outside/secret/below', 'loop']) {
      expect(await refusal(join(scratch, path))).toBe(there)
    }
  })

  it.each([
    ['src/main.ts', 'relative'],
    ['./main.ts', 'relative'],
    ['-rf', 'relative'],
    ['~/notes.md', '~'],
    ['file:///etc/passwd', 'file: URI'],
    ['FILE:/etc/passwd', 'file: URI'],
    ['https://example.org/a', 'neither'],
    ['', 'empty'],
    ['/srv/../etc/passwd', "'..'"],
    ['/srv/./app', "'.'"],
    ['/srv//app', 'empty component'],
    ['/srv/app/', 'ends with a slash'],
    ['/srv/app\0.txt', 'NUL'],
    ['/srv/\ud800', 'Unicode'],
  ])('is refused if it is invalid: %j', async (path, words) => {
    await expect(hostFiles().locate(path)).rejects.toMatchObject({
      code: 'EINVAL',
      message: expect.stringContaining(words),
    })
  })

  it('is taken literally, without decoding', async () => {
    const files = hostFiles()
    const place = await files.locate(join(app, '%2e%2e/app2/secret'))
    await expect(readText(place.fs, place.path)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('is compared by the rules of the disk for case and Unicode', async () => {
    const files = hostFiles()
    for (const twin of [app.toUpperCase(), join(scratch, 'ａｐｐ'), join(scratch, 'app\u200b')]) {
      if (host.existsSync(twin)) continue
      await expect(files.locate(join(twin, 'x'))).rejects.toMatchObject({ code: 'EACCES' })
    }
  })
})

describe('a link', () => {
  it('that leads out is refused, for existing and missing targets', async () => {
    host.symlinkSync(join(scratch, 'outside'), join(app, 'out'))
    host.symlinkSync('../outside/secret', join(app, 'secret'))
    host.symlinkSync('../outside/new', join(app, 'dangling'))
    const files = hostFiles()
    for (const path of ['out/secret', 'out/new', 'secret', 'dangling']) {
      await expect(files.locate(join(app, path))).rejects.toMatchObject({ code: 'EACCES' })
    }
  })

  it('leads from one allowed directory into another', async () => {
    host.symlinkSync(join(scratch, 'lib'), join(app, 'lib'))
    const files = hostFiles({ allow: [app, join(scratch, 'lib')] })
    expect(await read(files, join(app, 'lib/tool.ts'))).toBe('tool')
  })

  it('to a missing file resolves to the file that a write would create', async () => {
    host.symlinkSync('src/later.ts', join(app, 'later'))
    const files = hostFiles()
    expect((await files.locate(join(app, 'later'))).path).toBe(join(app, 'src/later.ts'))
    await write(files, join(app, 'later'), 'made')
    expect(host.readFileSync(join(app, 'src/later.ts'), 'utf8')).toBe('made')
  })

  it('in a cycle is ELOOP', async () => {
    host.symlinkSync('b', join(app, 'a'))
    host.symlinkSync('a', join(app, 'b'))
    await expect(read(hostFiles(), join(app, 'a'))).rejects.toMatchObject({ code: 'ELOOP' })
  })

  it('may be an allowed directory, or lead to it', async () => {
    host.symlinkSync(app, join(scratch, 'link'))
    const files = hostFiles({ allow: [`${join(scratch, 'link')}/`] })
    expect(files.allowed).toEqual([app])
    expect(await read(files, join(app, 'src/main.ts'))).toBe('main')
    expect(await read(files, join(scratch, 'link/src/main.ts'))).toBe('main')
  })
})

describe('the allow-list', () => {
  it.each([
    ['missing', 'ENOENT'],
    ['lib/tool.ts', 'ENOTDIR'],
  ])('refuses a path that is not a directory: %s', (name, code) => {
    expect(() => hostFiles({ allow: [join(scratch, name)] })).toThrow(expect.objectContaining({ code }))
  })

  it('refuses a relative path', () => {
    expect(() => hostFiles({ allow: ['src'] })).toThrow(expect.objectContaining({ code: 'EINVAL' }))
  })

  it('allows nothing if it is empty', async () => {
    await expect(hostFiles({ allow: [] }).locate(join(app, 'src/main.ts'))).rejects.toMatchObject({
      code: 'EACCES',
      message: expect.stringContaining('no directory of this machine is allowed'),
    })
  })

  it('merges a directory inside another into that one', async () => {
    const files = hostFiles({ allow: [join(app, 'src'), app, app] })
    expect(files.allowed).toEqual([app])
    // A writer of the outer directory could replace the inner one by a link.
    host.renameSync(join(app, 'src'), join(app, 'moved'))
    host.symlinkSync(join(scratch, 'outside'), join(app, 'src'))
    await expect(files.locate(join(app, 'src/secret'))).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('may be the whole machine', async () => {
    expect(await read(hostFiles({ allow: ['/'] }), join(scratch, 'outside/secret'))).toBe('SECRET')
  })

  it('can be narrowed during use, never widened by that, and restored', async () => {
    const files = hostFiles({ allow: [app, join(scratch, 'lib')] })
    files.narrow([join(app, 'src'), join(scratch, 'outside'), join(scratch, 'missing')])
    expect(files.allowed).toEqual([join(app, 'src')])
    expect(await read(files, join(app, 'src/main.ts'))).toBe('main')
    for (const path of [join(app, 'x'), join(scratch, 'lib/tool.ts'), join(scratch, 'outside/secret')]) {
      await expect(files.locate(path)).rejects.toMatchObject({ code: 'EACCES' })
    }
    files.narrow([scratch])
    expect(files.allowed).toEqual([app, join(scratch, 'lib')])
    files.narrow([])
    await expect(files.locate(app)).rejects.toMatchObject({ code: 'EACCES' })
    files.narrow(null)
    expect(await read(files, join(scratch, 'lib/tool.ts'))).toBe('tool')
  })

  it('can be replaced during use, and stays unchanged if the new list is invalid', async () => {
    const files = hostFiles()
    expect(() => files.setAllowed([join(scratch, 'lib'), join(scratch, 'missing')])).toThrow()
    expect(files.allowed).toEqual([app])
    files.setAllowed([join(scratch, 'lib')])
    expect(await read(files, join(scratch, 'lib/tool.ts'))).toBe('tool')
    await expect(files.locate(join(app, 'src/main.ts'))).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('reports a removed directory, and serves it again once it is recreated', async () => {
    const files = hostFiles()
    await read(files, join(app, 'src/main.ts'))
    host.rmSync(app, { recursive: true })
    await expect(files.locate(join(app, 'src/main.ts'))).rejects.toMatchObject({ code: 'ENOENT', path: app })
    host.mkdirSync(app)
    await write(files, join(app, 'again.txt'), 'again')
    expect(await read(files, join(app, 'again.txt'))).toBe('again')
  })

  it('does not follow a link that replaces its directory', async () => {
    const files = hostFiles()
    host.renameSync(app, join(scratch, 'moved'))
    host.symlinkSync(join(scratch, 'outside'), app)
    await expect(files.locate(join(app, 'secret'))).rejects.toMatchObject({ code: 'EACCES' })
  })

  it('returns targets whose errors have host paths', async () => {
    const path = join(app, 'missing.txt')
    await expect(read(hostFiles(), path)).rejects.toMatchObject({ code: 'ENOENT', path })
  })
})

describe('a special file', () => {
  it('is refused without opening it: a pipe', async () => {
    const pipe = join(app, 'pipe')
    execFileSync('sh', ['-c', 'mkfifo "$0"', pipe])
    await expect(read(hostFiles(), pipe)).rejects.toMatchObject({ code: 'ENOTSUP', path: pipe })
    await expect(write(hostFiles(), pipe, 'x')).rejects.toMatchObject({ code: 'ENOTSUP', path: pipe })
  })

  it('is refused without opening it: a socket', async () => {
    const path = join(app, 'socket')
    const server = createServer().listen(path)
    await new Promise((resolve) => server.once('listening', resolve))
    try {
      await expect(read(hostFiles(), path)).rejects.toMatchObject({ code: 'ENOTSUP', path })
    } finally {
      server.close()
    }
  })

  it('is refused without opening it: a device', async () => {
    const files = hostFiles({ allow: ['/dev'] })
    await expect(read(files, '/dev/zero')).rejects.toMatchObject({ code: 'ENOTSUP', path: '/dev/zero' })
  })

  it('is refused behind a link as well', async () => {
    execFileSync('sh', ['-c', 'mkfifo "$0"', join(app, 'pipe')])
    host.symlinkSync('pipe', join(app, 'link'))
    await expect(read(hostFiles(), join(app, 'link'))).rejects.toMatchObject({ code: 'ENOTSUP' })
  })
})
