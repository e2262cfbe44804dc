import {
  formatCompletePatch,
  formatPatch,
  listFileChanges,
  readChangedText,
  readCompletePatch,
  type TreePair,
} from '../../../diff/index.ts'
import type { CallContext, PathChange } from '../../../vfs/index.ts'
import type { CommandInvocation } from '../../framework/command-invocation.ts'
import { formatErrorLine } from '../../framework/errors.ts'
import { toChangeJson } from '../../render/format-change.ts'
import { formatBytes } from '../../render/format-values.ts'
import { withPager } from '../../render/pager.ts'
import { formatPatchLine } from '../../render/patch-line.ts'

/** Size from which `git apply` refuses a patch. */
const MAX_APPLIED_BYTES = 1023 * 1024 * 1024

/** Changes to print, after lines about others. */
export interface PrintedChanges {
  readonly changes: AsyncIterable<PathChange> | readonly PathChange[]
  readonly trees: TreePair
  readonly heading: readonly string[]
}

/**
 * Prints the changed lines of each file. `isWhole` adds the content of binary files, except at a terminal: its text has
 * colours and escapes, so no git can apply it.
 */
export async function printPatch(
  call: CommandInvocation,
  printed: PrintedChanges,
  { isWhole, ctx }: { readonly isWhole: boolean; readonly ctx: CallContext },
): Promise<void> {
  if (call.isJson) await printJsonPatches(call, printed, ctx)
  else if (isWhole && !call.terminal.isInteractive) await printCompletePatch(call, printed, ctx)
  else await printShortPatch(call, printed, ctx)
}

async function printJsonPatches(
  call: CommandInvocation,
  { changes, trees }: PrintedChanges,
  ctx: CallContext,
): Promise<void> {
  const patches = async function* () {
    for await (const change of listFileChanges(changes, trees, ctx))
      yield { ...toChangeJson(change), patch: await readCompletePatch(change, trees, ctx) }
  }
  await call.output.writeList(patches(), ({ patch }) => patch)
}

/** Writes the patch for git. Writes a warning if git refuses it for its size. */
async function printCompletePatch(
  { output, terminal }: CommandInvocation,
  { changes, trees }: PrintedChanges,
  ctx: CallContext,
): Promise<void> {
  let bytes = 0
  for await (const change of listFileChanges(changes, trees, ctx))
    for await (const text of formatCompletePatch(change, trees, ctx)) {
      bytes += Buffer.byteLength(text)
      await output.writeText(text)
    }
  if (bytes < MAX_APPLIED_BYTES) return
  const message = `the patch has ${formatBytes(bytes)}, and git apply takes less than ${formatBytes(MAX_APPLIED_BYTES)}`
  terminal.err.write(
    formatErrorLine(`${message}; use coppice apply for a fork of a directory, coppice export for a vault`),
  )
}

async function printShortPatch(
  call: CommandInvocation,
  { changes, trees, heading }: PrintedChanges,
  ctx: CallContext,
): Promise<void> {
  const patches = async function* () {
    for await (const change of listFileChanges(changes, trees, ctx))
      yield formatPatch(await readChangedText(change, trees, ctx))
  }
  const text = (patch: readonly string[]) =>
    patch.map((line) => formatPatchLine(call.terminal, line)).join('\n')
  await withPager(call.terminal, async (output) => {
    for (const line of heading) await output.writeLine(line)
    await output.writeList(patches(), text)
  })
}
