import {
  createJsonRequestFile,
  type Device,
  type DeviceContext,
  type ModelRequest,
  type ModelResponse,
} from '../../../kernel/index.ts'
import { withDeadline } from './deadline.ts'
import { parseModelRequest } from './model-request.ts'

/** Answers a request; it is over, with nothing left behind, soon after the signal is aborted. */
export type AskModel = (request: ModelRequest, signal: AbortSignal) => Promise<ModelResponse>

/** A model behind a path: each open file is one conversation. */
export interface ModelDevice {
  readonly path: string
  begin(subpath: string, ctx: DeviceContext): AskModel | Promise<AskModel>
}

/** Opens a conversation as a file: requests are checked, and none takes longer than it may. */
export async function openConversation(
  { path, begin }: ModelDevice,
  subpath: string,
  ctx: DeviceContext,
): Promise<ReturnType<typeof createJsonRequestFile>> {
  const ask = await begin(subpath, ctx)
  const name = `${path}${subpath}`
  return createJsonRequestFile(name, (body, written) => {
    const request = parseModelRequest(name, body)
    const limits = { path: name, timeoutMs: request.timeout_ms, signals: [ctx.signal, written] }
    return withDeadline(limits, (signal) => ask(request, signal))
  })
}

/** A device whose path alone is a model. */
export function modelDevice(path: string, begin: ModelDevice['begin']): Device {
  return { match: 'exact', open: (subpath, _mode, ctx) => openConversation({ path, begin }, subpath, ctx) }
}
