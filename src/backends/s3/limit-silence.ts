import type { S3Client } from '@aws-sdk/client-s3'

/** Attempts that a server may leave unanswered. A second one passes a connection that broke unnoticed. */
const MAX_SILENT_ATTEMPTS = 2

/** A server that did not answer a request. The SDK does not repeat it again. */
export class SilentServerError extends Error {
  override readonly name = 'SilentServerError'
  readonly server: string

  constructor(server: string) {
    super(`${server} does not answer`)
    this.server = server
  }
}

/** Makes each request of a client end after two attempts without an answer, or after one once the signal has aborted. */
export function limitSilence(client: S3Client, interruption: AbortSignal | undefined): void {
  client.middlewareStack.add(
    (next) => {
      let attempts = 0
      return async (args) => {
        try {
          return await next(args)
        } catch (error) {
          if (!isSilence(error)) throw error
          if (++attempts < MAX_SILENT_ATTEMPTS && interruption?.aborted !== true) throw error
          throw new SilentServerError(getServer(args.request))
        }
      }
    },
    { step: 'finalizeRequest', priority: 'low', name: 'limitSilence' },
  )
}

/** Reports whether a connection was closed for its silence. The SDK gives a broken one the same name, and a code. */
function isSilence(error: unknown): boolean {
  return error instanceof Error && error.name === 'TimeoutError' && !('code' in error)
}

/** Returns the server of a request, for messages. */
function getServer(request: unknown): string {
  const { protocol = '', hostname = '', port }: Partial<Record<string, unknown>> = { ...Object(request) }
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}`
}
