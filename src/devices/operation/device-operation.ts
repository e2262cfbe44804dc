import type { z } from 'zod'
import type { DeviceContext } from '../../kernel/index.ts'
import { parseDeviceRequest, toJsonSchema } from './parse-device-request.ts'

/** Caller of an operation and its signal. */
export interface OperationCall {
  readonly ctx: DeviceContext
  readonly signal: AbortSignal
}

/** One operation of a device. */
export interface DeviceOperation {
  readonly description: string
  /** JSON Schema of the arguments. */
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** Returns the response as a JSON value. EINVAL for invalid arguments, with the path they were written to. */
  run(path: string, args: unknown, call: OperationCall): Promise<unknown>
}

interface OperationSpec<Args> {
  readonly description: string
  readonly schema: z.ZodType<Args>
  run(args: Args, call: OperationCall): Promise<unknown>
}

/** Defines an operation that validates its arguments before it runs. */
export function defineOperation<Args>({ description, schema, run }: OperationSpec<Args>): DeviceOperation {
  return {
    description,
    inputSchema: toJsonSchema(schema),
    run: async (path, args, call) => run(parseDeviceRequest(path, schema, args), call),
  }
}
