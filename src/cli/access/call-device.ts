import type { DaemonClient } from '../../daemon/client/index.ts'
import type { CommandInvocation } from '../framework/command-invocation.ts'
import { type DaemonAccess, withDaemon } from './daemon-access.ts'

/** What a device answers: as little checked as what JSON.parse returns. */
type UncheckedJson = ReturnType<typeof JSON.parse>

/** Writes a request to a device of the daemon of the home a command is about; what it answers. */
export function callDevice<Answer>(
  call: CommandInvocation,
  path: string,
  request: object,
  access?: DaemonAccess,
): Promise<Answer> {
  const { signal } = call.terminal
  return withDaemon(call, (client) => callDeviceWith<Answer>(client, path, request, signal), access)
}

/** The same of a daemon that is at hand. */
export async function callDeviceWith<Answer>(
  client: DaemonClient,
  path: string,
  request: object,
  signal: AbortSignal,
): Promise<Answer> {
  const answer: UncheckedJson = await client.call('call', { path, request }, signal)
  return answer
}
