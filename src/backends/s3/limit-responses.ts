import { Readable, Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { S3Client } from '@aws-sdk/client-s3'

/** Limit of a response. A page with a thousand of the longest keys has less than a third of this, in any encoding. */
const MAX_RESPONSE_BYTES = 16 * 1024 * 1024
const FIRST_ERROR_STATUS = 300

/** A response that is larger than any valid one, and would not fit into memory. */
export class ResponseTooLargeError extends Error {
  override readonly name = 'ResponseTooLargeError'
  override readonly message: string = `a response of more than ${MAX_RESPONSE_BYTES / 1024 / 1024} MiB`
}

/**
 * Returns a client that limits the size of responses, except of object content, which is streamed. The given client is
 * unchanged.
 */
export function limitResponses(client: S3Client): S3Client {
  return new Proxy(client, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        if (name === 'send') limitResponse(args[0])
        return Reflect.apply(value, target, args)
      }
    },
  })
}

/** The part of an SDK command that is used here. */
interface LimitableCommand {
  readonly middlewareStack: {
    add(middleware: (next: Next, context: { readonly commandName?: string }) => Next, where: object): void
  }
}

type Next = (args: unknown) => Promise<{ readonly response: unknown }>

function limitResponse(command: unknown): void {
  if (!isLimitable(command)) return
  const limiter = (next: Next, { commandName }: { readonly commandName?: string }): Next => {
    return async (args) => {
      const result = await next(args)
      const { response } = result
      if (isResponse(response) && (commandName !== 'GetObjectCommand' || isFailure(response))) {
        response.body = limitBody(response.body)
      }
      return result
    }
  }
  command.middlewareStack.add(limiter, { step: 'deserialize', priority: 'low', name: 'limitResponses' })
}

/** Passes the bytes on, and fails and releases the source when there are too many. */
function limitBody(body: Readable): Readable {
  let bytes = 0
  const limit = new Transform({
    transform: (chunk: Uint8Array, _encoding, done) => {
      bytes += chunk.length
      if (bytes > MAX_RESPONSE_BYTES) done(new ResponseTooLargeError())
      else done(null, chunk)
    },
  })
  // The reader of the stream gets the error.
  pipeline(body, limit).catch(() => {})
  return limit
}

function isLimitable(command: unknown): command is LimitableCommand {
  return typeof command === 'object' && command !== null && 'middlewareStack' in command
}

function isResponse(response: unknown): response is { body: Readable; statusCode: number } {
  return (
    typeof response === 'object' && response !== null && Reflect.get(response, 'body') instanceof Readable
  )
}

function isFailure({ statusCode }: { readonly statusCode: number }): boolean {
  return statusCode >= FIRST_ERROR_STATUS
}
