import { ListMultipartUploadsCommand, PutObjectCommand } from '@aws-sdk/client-s3'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { S3Fs } from '../../src/backends/s3/index.ts'
import { fileSystemSuite, type Runner } from '../../src/conformance/index.ts'
import { hash, list, readText } from '../../src/vfs/index.ts'
import { hasRadosgw, startRadosgw } from '../support/radosgw.ts'
import { S3Proxy } from '../support/s3-proxy.ts'
import { beyondS3rver } from '../support/s3-server.ts'

/** Rules of the contract that s3rver cannot show or that other servers may treat differently; radosgw is slow. */
const rules: readonly string[] = [
  ...Object.keys(beyondS3rver),
  'a stream opened before an overwrite or a removal finishes with the old content',
  'ifMatch null writes only where there is no file',
  'ifMatch with the content hash writes only over that content',
  'remove with recursive takes all below, and nothing beside',
  'rename moves a directory with all it holds',
]
const runner: Runner = {
  describe,
  it: (name, body) => (rules.includes(name) ? it(name, body) : undefined),
}

const server = hasRadosgw ? await startRadosgw() : undefined

afterAll(() => server?.[Symbol.asyncDispose]())

/** Rules that only a server with conditional requests can prove. */
describe.skipIf(server === undefined)(
  'a bucket of radosgw (packages ceph-mon, ceph-osd, radosgw)',
  async () => {
    if (server === undefined) return
    const proxy = new S3Proxy(server.endpoint)
    const client = server.client(await proxy.start())
    const other = server.client()
    const bucket = await server.bucket(other)
    let prefix = ''
    let fs: S3Fs
    let theirs: S3Fs

    beforeEach(() => {
      prefix = `root-${Math.random()}`
      fs = new S3Fs({ bucket, prefix, client })
      theirs = new S3Fs({ bucket, prefix, client: other })
      proxy.meddle = () => false
    })

    afterAll(() => proxy[Symbol.asyncDispose]())

    fileSystemSuite(runner, {
      name: 'a prefix of it',
      create: () => new S3Fs({ bucket, prefix: `root-${Math.random()}`, client: other }),
    })

    async function names(path: string): Promise<string[]> {
      return (await list(fs, path)).map(({ name }) => name)
    }

    /** Lets another client write just before our next write arrives, after its check. */
    function beforeOurWrite(change: () => Promise<void>): void {
      const pass = proxy.meddle
      proxy.meddle = (asked, answer) => {
        if (asked.method !== 'PUT') return false
        proxy.meddle = pass
        void change().then(() => proxy.pass(asked, answer))
        return true
      }
    }

    it('refuses a write that must create a file if another was faster', async () => {
      beforeOurWrite(() => theirs.write('/file', 'theirs'))
      await expect(fs.write('/file', 'ours', { ifMatch: null })).rejects.toMatchObject({ code: 'ECONFLICT' })
      expect(await readText(fs, '/file')).toBe('theirs')
    })

    it('refuses a write on a certain content if another was faster', async () => {
      await fs.write('/file', 'before')
      const ifMatch = await hash(fs, '/file')
      beforeOurWrite(() => theirs.write('/file', 'theirs'))
      await expect(fs.write('/file', 'ours', { ifMatch })).rejects.toMatchObject({ code: 'ECONFLICT' })
      expect(await readText(fs, '/file')).toBe('theirs')
      await fs.write('/file', 'ours', { ifMatch: await hash(fs, '/file') })
      expect(await readText(fs, '/file')).toBe('ours')
    })

    it('lets exactly one of many concurrent writers succeed', async () => {
      await fs.write('/file', 'before')
      for (const ifMatch of [await hash(fs, '/file'), null]) {
        const path = ifMatch === null ? '/fresh' : '/file'
        const writers = Array.from({ length: 6 }, () => new S3Fs({ bucket, prefix, client: other }))
        const writes = writers.map((writer, at) => writer.write(path, `writer ${at}`, { ifMatch }))
        const outcomes = await Promise.allSettled(writes)
        expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
      }
    })

    it('copies names that a URL must escape', async () => {
      await fs.write('/a b+c/ü%2F?#&.txt', 'kept')
      await fs.rename('/a b+c', '/d&e')
      expect(await readText(fs, '/d&e/ü%2F?#&.txt')).toBe('kept')
      expect(await names('/')).toEqual(['d&e'])
    })

    it('keeps no part of a large file whose write failed', async () => {
      const broken = async function* () {
        for (let at = 0; at < 17; at++) yield new Uint8Array(1024 * 1024)
        throw new Error('the source broke')
      }
      await expect(fs.write('/large', broken())).rejects.toThrow('the source broke')
      const { Uploads = [] } = await other.send(new ListMultipartUploadsCommand({ Bucket: bucket }))
      expect(Uploads).toEqual([])
      expect(await fs.exists('/large')).toBe(false)
    })

    it('shows files that others stored under irregular keys', async () => {
      for (const key of ['a', 'a-b', 'a/b', 'empty/', 'd//e', 'd/../f', 'd/g']) {
        await other.send(new PutObjectCommand({ Bucket: bucket, Key: `${prefix}/${key}`, Body: key }))
      }
      expect(await names('/')).toEqual(['a', 'a-b', 'd', 'empty'])
      expect(await names('/d')).toEqual(['g'])
      expect(await readText(fs, '/a')).toBe('a')
      expect(await readText(fs, '/a/b')).toBe('a/b')
      await expect(fs.write('/a/c', 'x')).rejects.toMatchObject({ code: 'ENOTDIR' })
      await fs.write('/a', 'still a file')
      await fs.remove('/a', { recursive: true })
      expect(await names('/a')).toEqual(['b'])
      await fs.remove('/d', { recursive: true })
      expect(await names('/')).toEqual(['a', 'a-b', 'empty'])
      await fs.rename('/a', '/empty', { overwrite: true })
      expect(await names('/empty')).toEqual(['b'])
    })
  },
)
