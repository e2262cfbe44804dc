import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { VfsError } from '../../vfs/index.ts'
import { boundAnswers } from './bounded-answers.ts'
import type { Call } from './call.ts'
import { told } from './s3-errors.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

interface Opened {
  readonly sdk: Sdk
  readonly client: S3Client
}

/** What a request needs; `options` carries the signal. */
export interface Request extends Opened {
  readonly bucket: string
  readonly options: { abortSignal?: AbortSignal }
}

/** A server that says nothing for this long is asked again; a caller's own settings go first. */
const PATIENCE: S3ClientConfig = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
}

/** The way to one bucket. The SDK is loaded with the first request, and each failure leaves as a `VfsError`. */
export class Connection {
  readonly bucket: string
  readonly #given: S3Client | S3ClientConfig
  #opened: Promise<Opened> | undefined

  constructor(bucket: string, client: S3Client | S3ClientConfig = {}) {
    this.bucket = bucket
    this.#given = client
  }

  async ask<Answer>(call: Call, request: (request: Request) => Promise<Answer>): Promise<Answer> {
    this.#opened ??= this.#open()
    const opened = await this.#opened
    try {
      const options = call.signal === undefined ? {} : { abortSignal: call.signal }
      return await request({ ...opened, bucket: this.bucket, options })
    } catch (error) {
      throw told(error, call, this.bucket)
    }
  }

  /** Lets go of the connections of a client that was made here. */
  async close(): Promise<void> {
    if (isClient(this.#given) || this.#opened === undefined) return
    const { client } = await this.#opened
    client.destroy()
  }

  async #open(): Promise<Opened> {
    const sdk = await load()
    return {
      sdk,
      client: boundAnswers(
        isClient(this.#given) ? this.#given : new sdk.S3Client({ ...PATIENCE, ...this.#given }),
      ),
    }
  }
}

function isClient(given: S3Client | S3ClientConfig): given is S3Client {
  return 'send' in given
}

async function load(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (cause) {
    throw new VfsError('ENOTSUP', '/', {
      detail: 'S3 needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3',
      cause,
    })
  }
}
