import type { S3Client, S3ClientConfig } from '@aws-sdk/client-s3'
import { VfsError } from '../../vfs/index.ts'
import { limitResponses } from './limit-responses.ts'
import { limitSilence, SilentServerError } from './limit-silence.ts'
import { createAgents } from './s3-agents.ts'
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

/** Attempts while the server refuses or closes the connection. The caller's settings take precedence. */
const MAX_ATTEMPTS = 5
/** Time after a request without an answer in which others fail at once. */
const PAUSE_MS = 10_000

/** The connection to one bucket. The SDK is loaded at the first request, and each error becomes a `VfsError`. */
export class S3Connection {
  readonly bucket: string
  readonly #clientOrConfig: S3Client | S3ClientConfig
  readonly #interruption: AbortSignal | undefined
  #loaded: Promise<LoadedClient> | undefined
  /** The last error of a server that has not answered since, and when it was. */
  #silence: { readonly error: unknown; readonly time: number } | undefined

  /** @param interruption once it aborts, requests without an answer end soon. */
  constructor(bucket: string, client: S3Client | S3ClientConfig = {}, interruption?: AbortSignal) {
    this.bucket = bucket
    this.#clientOrConfig = client
    this.#interruption = interruption
  }

  /** Sends a request. Failures are VfsErrors, or the reason of an aborted signal. */
  async send<Response>(call: S3Call, request: (request: S3Request) => Promise<Response>): Promise<Response> {
    this.#loaded ??= this.#load()
    const loaded = await this.#loaded
    try {
      if (this.#silence !== undefined && performance.now() - this.#silence.time < PAUSE_MS)
        throw this.#silence.error
      const options = call.signal === undefined ? {} : { abortSignal: call.signal }
      const response = await request({ ...loaded, bucket: this.bucket, options })
      this.#silence = undefined
      return response
    } catch (error) {
      if (error instanceof SilentServerError && error !== this.#silence?.error)
        this.#silence = { error, time: performance.now() }
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
    const given = this.#clientOrConfig
    if (isClient(given)) return { sdk, client: limitResponses(given) }
    const requestHandler = given.requestHandler ?? (await createAgents(this.#interruption))
    const client = new sdk.S3Client({ maxAttempts: MAX_ATTEMPTS, ...given, requestHandler })
    limitSilence(client, this.#interruption)
    return { sdk, client: limitResponses(client) }
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
