import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { VfsError } from '../../vfs/index.ts'
import { limitResponses } from './limit-responses.ts'
import type { S3Call } from './s3-call.ts'
import { toVfsError } from './s3-errors.ts'

type Sdk = typeof import('@aws-sdk/client-s3')

interface LoadedClient {
  readonly sdk: Sdk
  readonly client: S3Client
}

/** What a request needs; `options` carries the signal. */
export interface S3Request extends LoadedClient {
  readonly bucket: string
  readonly options: { abortSignal?: AbortSignal }
}

/** A server that says nothing for this long is asked again; a caller's own settings go first. */
const RETRY_CONFIG: S3ClientConfig = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
}

/** The way to one bucket. The SDK is loaded with the first request, and each failure leaves as a `VfsError`. */
export class S3Connection {
  readonly bucket: string
  readonly #clientOrConfig: S3Client | S3ClientConfig
  #loaded: Promise<LoadedClient> | undefined

  constructor(bucket: string, client: S3Client | S3ClientConfig = {}) {
    this.bucket = bucket
    this.#clientOrConfig = client
  }

  async send<Answer>(call: S3Call, request: (request: S3Request) => Promise<Answer>): Promise<Answer> {
    this.#loaded ??= this.#load()
    const opened = await this.#loaded
    try {
      const options = call.signal === undefined ? {} : { abortSignal: call.signal }
      return await request({ ...opened, bucket: this.bucket, options })
    } catch (error) {
      throw toVfsError(error, call, this.bucket)
    }
  }

  /** Lets go of the connections of a client that was made here. */
  async close(): Promise<void> {
    if (isClient(this.#clientOrConfig) || this.#loaded === undefined) return
    const { client } = await this.#loaded
    client.destroy()
  }

  async #load(): Promise<LoadedClient> {
    const sdk = await loadSdk()
    return {
      sdk,
      client: limitResponses(
        isClient(this.#clientOrConfig)
          ? this.#clientOrConfig
          : new sdk.S3Client({ ...RETRY_CONFIG, ...this.#clientOrConfig }),
      ),
    }
  }
}

function isClient(given: S3Client | S3ClientConfig): given is S3Client {
  return 'send' in given
}

async function loadSdk(): Promise<Sdk> {
  try {
    return await import('@aws-sdk/client-s3')
  } catch (cause) {
    throw new VfsError('ENOTSUP', '/', {
      detail: 'S3 needs the package @aws-sdk/client-s3: npm install @aws-sdk/client-s3',
      cause,
    })
  }
}
