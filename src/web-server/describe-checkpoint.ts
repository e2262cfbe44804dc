import type { CheckpointInfo, Vault } from '../backends/vault/index.ts'
import type { WebCheckpoint } from '../web-api/index.ts'

/** Describes a checkpoint with its journal row, for the page. */
export async function describeCheckpoint(
  vault: Vault,
  { name, time, description = '' }: CheckpointInfo,
): Promise<WebCheckpoint> {
  return { name, time: time.toISOString(), seq: await vault.getCheckpointRow(name), description }
}
