import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3'

const require = createRequire(import.meta.url)
/** The names both servers know the tests by. */
const credentials = { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' }

/** Rules of the contract s3rver cannot show, each with the reason. */
export const beyondS3rver: Readonly<Record<string, string>> = {
  'a reader sees the old content or the new, never a mixture': 's3rver replaces objects in place',
  'unusual names are stored, listed, walked and removed exactly': 's3rver ends at a name of 255 bytes',
  'unusual names work for directories too': 's3rver ends at a name of 255 bytes',
}

/** A server of others that speaks S3, in processes of its own on loopback. */
export class S3Server implements AsyncDisposable {
  readonly endpoint: string
  readonly #processes: readonly ChildProcess[]
  readonly #directory: string
  readonly #clients: S3Client[] = []
  #buckets = 0

  constructor(endpoint: string, processes: readonly ChildProcess[], directory: string) {
    this.endpoint = endpoint
    this.#processes = processes
    this.#directory = directory
  }

  /** s3rver from npm: the basics. It ignores conditions and replaces objects in place. */
  static async s3rver(): Promise<S3Server> {
    const directory = await mkdtemp(join(tmpdir(), 'coppice-s3rver-'))
    const port = await freePort()
    const program = require.resolve('s3rver/bin/s3rver.js')
    // Its continuation tokens are made with DES.
    const options = [
      '--openssl-legacy-provider',
      program,
      '-d',
      directory,
      '-a',
      '127.0.0.1',
      '-p',
      `${port}`,
      '-s',
    ]
    const server = spawn(process.execPath, options, { stdio: 'ignore' })
    const started = new S3Server(`http://127.0.0.1:${port}`, [server], directory)
    await started.answers()
    return started
  }

  /** A client of this server, or of what stands before it. */
  client(endpoint: string = this.endpoint): S3Client {
    const client = new S3Client({
      endpoint,
      credentials,
      region: 'us-east-1',
      forcePathStyle: true,
      requestChecksumCalculation: 'WHEN_REQUIRED',
      maxAttempts: 5,
    })
    this.#clients.push(client)
    return client
  }

  /** A new bucket's name. */
  async bucket(client: S3Client): Promise<string> {
    const name = `bucket-${++this.#buckets}`
    await client.send(new CreateBucketCommand({ Bucket: name }))
    return name
  }

  /** Waits until the server answers at all. */
  async answers(): Promise<void> {
    for (let tries = 0; tries < 600; tries++) {
      if (
        await fetch(this.endpoint).then(
          () => true,
          () => false,
        )
      )
        return
      await sleep(50)
    }
    throw new Error(`no server at ${this.endpoint}; look into ${this.#directory}`)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const client of this.#clients) client.destroy()
    for (const process of this.#processes) {
      if (process.exitCode !== null || process.signalCode !== null) continue
      const gone = once(process, 'exit')
      process.kill('SIGKILL')
      await gone
    }
    await rm(this.#directory, { recursive: true, force: true })
  }
}

/** A port nobody listens at. */
export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}
