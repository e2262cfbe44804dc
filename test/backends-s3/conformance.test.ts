import { afterAll, describe, it } from 'vitest'
import { S3Fs } from '../../src/backends/s3/index.ts'
import { fileSystemSuite, type Runner } from '../../src/conformance/index.ts'
import { beyondS3rver, S3Server } from '../support/s3-server.ts'

const server = await S3Server.s3rver()
const client = server.client()
const bucket = await server.bucket(client)
let roots = 0

afterAll(() => server[Symbol.asyncDispose]())

const runner: Runner = {
  describe,
  it: (name, body) =>
    it(name, (context) => (name in beyondS3rver ? context.skip(beyondS3rver[name]) : body(context))),
}

fileSystemSuite(runner, {
  name: 'a prefix of a bucket of s3rver',
  create: () => new S3Fs({ bucket, prefix: `root-${++roots}`, client }),
  runs: 3,
})
