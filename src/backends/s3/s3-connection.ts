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

/** The parameters of a request; `options` has the signal. */
export interface S3Request extends LoadedClient {
  readonly bucket: string
  readonly options: { abortSignal?: AbortSignal }
}

/** A silent server is retried after these timeouts. The caller's settings take precedence. */
const RETRY_CONFIG: S3ClientConfig = {
  maxAttempts: 5,
  requestHandler: { connectionTimeout: 5_000, socketTimeout: 30_000 },
}

/** The connection to one bucket. The SDK is loaded at the first request, and each error becomes a `VfsError`. */
export class S3Connection {
  readonly bucket: string
  readonly #clientOrConfig: S3Client | S3ClientConfig
  #loaded: Promise<LoadedClient> | undefined

  constructor(bucket: string, client: S3Client | S3ClientConfig = {}) {
    this.bucket = bucket
    this.#clientOrConfig = client
  }

  /** Sends a request. Failures are VfsErrors, or the reason of an aborted signal. */
  async send<Response>(call: S3Call, request: (request: S3Request) => Promise<Response>): Promise<Response> {
    this.#loaded ??= this.#load()
    const loaded = await this.#loaded
    try {
      const options = call.signal === undefined ? {} : { abortSignal: call.signal }
      return await request({ ...loaded, bucket: this.bucket, options })
    } catch (error) {
      throw toVfsError(error, call, this.bucket)
    }
  }

  /** Closes the client if it was created here. */
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

function isClient(client: S3Client | S3ClientConfig): client is S3Client {
  return 'send' in client
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
