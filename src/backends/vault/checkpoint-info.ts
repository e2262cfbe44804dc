import type { Checkpoint } from '../../store/index.ts'

/** A checkpoint: its name, time and notes. */
export interface CheckpointInfo {
  readonly name: string
  readonly time: Date
  readonly description?: string
  /** Key–value pairs of its creator, such as the commit it represents. */
  readonly meta?: Readonly<Record<string, string>>
}

/** Optional notes on a checkpoint. */
export type CheckpointNotes = Pick<CheckpointInfo, 'description' | 'meta'>

export function toCheckpointInfo({ name, time, description, meta }: Checkpoint): CheckpointInfo {
  return {
    name,
    time: new Date(time),
    ...(description !== undefined && { description }),
    ...(meta !== undefined && { meta }),
  }
}
