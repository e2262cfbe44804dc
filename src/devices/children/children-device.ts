import { z } from 'zod'
import type { Device } from '../../kernel/index.ts'
import type { PathChange } from '../../vfs/index.ts'
import { defineOperation, operationsDevice } from '../operation/index.ts'

/** A message from another process. */
export interface ReceivedMessage {
  readonly from: number
  readonly text: string
}

/** The processes that a process may wait for, merge and write to. */
export interface ChildProcesses {
  /** Waits for a child and returns its result as text. ENOENT if it is no child of the process. */
  wait(parent: number, child: number, signal: AbortSignal): Promise<string>
  /**
   * Merges the files of a child into those of its parent. ECONFLICT with the paths in conflict, ENOENT if it is no
   * child of the process, ENOTSUP if one of them has no workspace.
   */
  merge(
    parent: number,
    child: number,
    onConflict: 'fail' | 'ours' | 'theirs' | 'markers',
  ): Promise<readonly PathChange[]>
  /** Sends a text to another process. ENOENT if that has ended. */
  send(from: number, to: number, text: string): void
  /** Returns all messages that have arrived; with `wait`, at least one. */
  receive(pid: number, wait: boolean, signal: AbortSignal): Promise<readonly ReceivedMessage[]>
}

const pid = z.int().positive().describe('Number of the process, as spawn returned it.')

/** Creates the device at `/dev/children`. */
export function childrenDevice(children: ChildProcesses): Device {
  return operationsDevice('/dev/children', {
    wait: defineOperation({
      description: 'Wait for a child process to end, and read its result.',
      schema: z.strictObject({ pid }),
      run: async ({ pid: child }, { ctx, signal }) => ({
        result: await children.wait(ctx.pid, child, signal),
      }),
    }),
    merge: defineOperation({
      description:
        'Take the changes of a child process into your files. A conflict names its paths and changes nothing.',
      schema: z.strictObject({
        pid,
        on_conflict: z
          .enum(['fail', 'ours', 'theirs', 'markers'])
          .default('fail')
          .describe(
            'ours keeps your version, theirs takes that of the child, markers writes both into the file.',
          ),
      }),
      run: async ({ pid: child, on_conflict }, { ctx }) => {
        const changes = await children.merge(ctx.pid, child, on_conflict)
        return { merged: changes.map(({ kind, path }) => `${kind} ${path}`) }
      },
    }),
    send_message: defineOperation({
      description: 'Send a text to another process.',
      schema: z.strictObject({ to: pid, text: z.string().min(1).max(100_000) }),
      run: async ({ to, text }, { ctx }) => {
        children.send(ctx.pid, to, text)
        return { sent: true }
      },
    }),
    messages: defineOperation({
      description: 'Read the messages that other processes sent you.',
      schema: z.strictObject({
        wait: z.boolean().default(false).describe('True waits until there is one.'),
      }),
      run: async ({ wait }, { ctx, signal }) => ({ messages: await children.receive(ctx.pid, wait, signal) }),
    }),
  })
}
