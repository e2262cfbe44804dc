import type { DaemonClient } from '../../daemon/client/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { type DaemonAccess, withDaemon } from './daemon-access.ts'

/** Response of a device, as unchecked as the result of JSON.parse. */
type UncheckedJson = ReturnType<typeof JSON.parse>

/** Sends a request to a device of the home's daemon and returns the response. */
export function callDevice<Answer>(
  call: CommandInvocation,
  path: string,
  request: object,
  access?: DaemonAccess,
): Promise<Answer> {
  const { signal } = call.terminal
  return withDaemon(call, (client) => callDeviceWith<Answer>(client, path, request, signal), access)
}

/** As `callDevice`, with a connected client. */
export async function callDeviceWith<Answer>(
  client: DaemonClient,
  path: string,
  request: object,
  signal: AbortSignal,
): Promise<Answer> {
  const answer: UncheckedJson = await client.call('call', { path, request }, signal)
  return answer
}
