import type { z } from 'zod'
import type { DeviceContext } from '../../kernel/index.ts'
import { parseDeviceRequest, toJsonSchema } from './parse-device-request.ts'

/** For whom an operation is done, and how it is cancelled. */
export interface OperationCall {
  readonly ctx: DeviceContext
  readonly signal: AbortSignal
}

/** One thing a device does. */
export interface DeviceOperation {
  readonly description: string
  /** The arguments as JSON Schema. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** The answer, to be told as JSON. EINVAL for arguments that do not fit; the path is where they were written. */
  run(path: string, args: unknown, call: OperationCall): Promise<unknown>
}

interface OperationSpec<Args> {
  readonly description: string
  readonly schema: z.ZodType<Args>
  run(args: Args, call: OperationCall): Promise<unknown>
}

/** An operation that checks its arguments before it runs. */
export function defineOperation<Args>({ description, schema, run }: OperationSpec<Args>): DeviceOperation {
  return {
    description,
    inputSchema: toJsonSchema(schema),
    run: async (path, args, call) => run(parseDeviceRequest(path, schema, args), call),
  }
}
