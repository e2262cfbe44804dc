import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { type ErrorCode, errorCodes, isVfsError, VfsError } from './error.ts'
import { MemoryFs } from './memory/memory-fs.ts'
import { MountTable } from './mount/mount-table.ts'

const codes = Object.keys(errorCodes).filter((code): code is ErrorCode => code in errorCodes)

async function failureOf(promise: Promise<unknown>): Promise<VfsError> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!isVfsError(error)) throw new Error(`expected a VfsError, got ${String(error)}`)
  return error
}

describe('the message', () => {
  it("is shaped like Node's", () => {
    const error = new VfsError('ENOENT', '/a/b', { op: 'stat' })
    expect(error.message).toBe("ENOENT: no such file or directory, stat '/a/b'")
    expect(String(error)).toBe("VfsError: ENOENT: no such file or directory, stat '/a/b'")
  })

  it('omits a missing operation', () => {
    expect(new VfsError('EACCES', '/a').message).toBe("EACCES: permission denied, '/a'")
  })

  it('prefers the detail to the default message', () => {
    const error = new VfsError('EINVAL', '/a', { op: 'read', detail: 'chunkSize must be above 0' })
    expect(error.message).toBe("EINVAL: chunkSize must be above 0, read '/a'")
  })

  it('has a default for every code', () => {
    for (const code of codes)
      expect(new VfsError(code, '/x').message).toMatch(/^E[A-Z]+: [a-z][a-z/ -]+, '\/x'$/)
  })
})

describe('as an Error', () => {
  it('has the given fields and no others', () => {
    const cause = new Error('the disk')
    const error = new VfsError('EIO', '/a', { cause })
    expect(error).toBeInstanceOf(Error)
    expect(error.cause).toBe(cause)
    expect(error.stack).toContain('error.test.ts')
    expect([error.op, error.mount, error.detail]).toEqual([undefined, undefined, undefined])
    expect('cause' in new VfsError('EIO', '/a')).toBe(false)
  })
})

describe('withPath', () => {
  const error = new VfsError('EIO', '/inner', { op: 'read', mount: '/m', detail: 'the disk' })

  it('changes the path, keeps the rest and names the cause', () => {
    const moved = VfsError.withPath(error, '/m/inner', '/m')
    expect(moved.message).toBe("EIO: the disk, read '/m/inner'")
    expect(moved).toMatchObject({ code: 'EIO', mount: '/m', cause: error })
  })

  it('drops a mount of the old namespace', () => {
    expect(VfsError.withPath(error, '/elsewhere').mount).toBeUndefined()
  })

  it('takes an error of another copy of the package, which may lack the methods', () => {
    const script = `Object.assign(new Error('gone'), { name: 'VfsError', code: 'ENOENT', path: '/a' })`
    const foreign: unknown = runInNewContext(script)
    if (!isVfsError(foreign)) throw new Error('expected a VfsError')
    expect(VfsError.withPath(foreign, '/b').toJSON()).toMatchObject({ code: 'ENOENT', path: '/b' })
  })
})

describe('JSON', () => {
  const details = fc.record(
    { op: fc.string(), mount: fc.string(), detail: fc.string() },
    { requiredKeys: [] },
  )

  it('goes both ways without loss', () => {
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.string(), details, (code, path, given) => {
        const sent = new VfsError(code, path, given)
        const received = VfsError.fromJSON(JSON.parse(JSON.stringify(sent)))
        expect(received.toJSON()).toEqual(sent.toJSON())
        expect(received.message).toBe(sent.message)
        expect(isVfsError(received, code)).toBe(true)
      }),
    )
  })

  it('has only the known fields, without causes and stacks', () => {
    const error = new VfsError('EIO', '/a', { cause: new Error('secret') })
    expect(error.toJSON()).toEqual({ code: 'EIO', path: '/a', message: "EIO: input/output error, '/a'" })
    expect(JSON.stringify(error)).not.toContain('secret')
  })
})

describe('isVfsError', () => {
  it('compares the code if one is given', () => {
    const error = new VfsError('ENOENT', '/a')
    expect(isVfsError(error)).toBe(true)
    expect(isVfsError(error, 'ENOENT')).toBe(true)
    expect(isVfsError(error, 'EACCES')).toBe(false)
  })

  it('recognises an error of another copy of the library', () => {
    class OtherCopy extends Error {
      override readonly name = 'VfsError'
      readonly code = 'ENOENT'
      readonly path = '/a'
    }
    expect(isVfsError(new OtherCopy(), 'ENOENT')).toBe(true)
    expect(isVfsError(new OtherCopy(), 'EIO')).toBe(false)
  })

  it('recognises an error of a copy in another realm', () => {
    const script = `Object.assign(new Error('gone'), { name: 'VfsError', code: 'ENOENT', path: '/a' })`
    expect(isVfsError(runInNewContext(script), 'ENOENT')).toBe(true)
  })

  it('rejects other errors and similar objects', () => {
    const systemError = Object.assign(new Error('ENOENT: no such file'), { code: 'ENOENT', path: '/a' })
    const strangers = [systemError, new Error('x'), null, undefined, 'ENOENT', 7, {}, new TypeError('y')]
    for (const stranger of strangers) {
      expect(isVfsError(stranger)).toBe(false)
      expect(isVfsError(stranger, 'ENOENT')).toBe(false)
    }
    expect(isVfsError(Object.assign(new Error('x'), { name: 'VfsError' }))).toBe(false)
  })
})

describe('crossing a mount table', () => {
  it("rewrites the path to the user's namespace, sets the mount and keeps the original as the cause", async () => {
    const error = await failureOf(new MountTable({ '/data': new MemoryFs() }).stat('/data/x/y'))
    expect(error).toMatchObject({ code: 'ENOENT', path: '/data/x/y', mount: '/data', op: 'stat' })
    expect(error.message).toBe("ENOENT: no such file or directory, stat '/data/x/y'")
    expect(error.cause).toMatchObject({ code: 'ENOENT', path: '/x/y', mount: undefined })
  })

  it('reports the innermost mount with its path in the outermost table', async () => {
    const inner = new MountTable({ '/deep/er': new MemoryFs() })
    const outer = new MountTable({ '/out': new MountTable({ '/in': inner }) })
    const error = await failureOf(outer.stat('/out/in/deep/er/x'))
    expect(error).toMatchObject({ path: '/out/in/deep/er/x', mount: '/out/in/deep/er' })
  })

  it('keeps the detail', async () => {
    const table = new MountTable({ '/data': new MemoryFs({ '/f': 'x' }) })
    const error = await failureOf(Array.fromAsync(table.read('/data/f', { chunkSize: 0 })))
    expect(error).toMatchObject({ code: 'EINVAL', path: '/data/f', mount: '/data' })
    expect(error.detail).toContain('chunkSize')
  })

  it('survives JSON with its mount', async () => {
    const error = await failureOf(new MountTable({ '/data': new MemoryFs() }).remove('/data/x'))
    expect(VfsError.fromJSON(error.toJSON())).toMatchObject({ path: '/data/x', mount: '/data' })
  })
})
