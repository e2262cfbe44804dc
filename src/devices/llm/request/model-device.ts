import {
  createJsonRequestFile,
  type Device,
  type DeviceContext,
  type ModelRequest,
  type ModelResponse,
} from '../../../kernel/index.ts'
import { withDeadline } from './deadline.ts'
import { parseModelRequest } from './model-request.ts'
import { passProse } from './prose.ts'

/** Answers a request, and passes the text on as it arrives. An aborted signal stops all that it started. */
export type AskModel = (
  request: ModelRequest,
  signal: AbortSignal,
  onText: (text: string) => void,
) => Promise<ModelResponse>

/** A model behind a path; each open file is one conversation. */
export interface ModelDevice {
  readonly path: string
  /** Starts a conversation. */
  begin(subpath: string, ctx: DeviceContext): AskModel | Promise<AskModel>
}

/** Opens a conversation as a file that validates requests and applies the time limit. */
export async function openConversation(
  { path, begin }: ModelDevice,
  subpath: string,
  ctx: DeviceContext,
): Promise<ReturnType<typeof createJsonRequestFile>> {
  const ask = await begin(subpath, ctx)
  const name = `${path}${subpath}`
  return createJsonRequestFile(name, (body, writeSignal) => {
    const request = parseModelRequest(name, body)
    const limits = { path: name, timeoutMs: request.timeout_ms, signals: [ctx.signal, writeSignal] }
    return withDeadline(limits, (signal) => ask(request, signal, passProse(ctx.onText)))
  })
}

/** Creates a device with one model at its path. */
export function modelDevice(path: string, begin: ModelDevice['begin']): Device {
  return { match: 'exact', open: (subpath, _mode, ctx) => openConversation({ path, begin }, subpath, ctx) }
}
