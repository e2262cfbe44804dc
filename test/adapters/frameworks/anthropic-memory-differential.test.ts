import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BetaMemoryTool20250818Command } from '@anthropic-ai/sdk/resources/beta'
import { BetaLocalFilesystemMemoryTool, betaMemoryTool } from '@anthropic-ai/sdk/tools/memory/node'
import { MemoryFs } from 'coppice'
import { memoryHandlers } from 'coppice/adapters/anthropic-memory'
import { describe, expect, it } from 'vitest'

const text = 'one\ntwo\nthree\nfour\nfive\nsix\n'

const commands: readonly BetaMemoryTool20250818Command[] = [
  { command: 'view', path: '/memories' },
  { command: 'create', path: '/memories/a.md', file_text: text },
  { command: 'create', path: '/memories/a.md', file_text: 'again' },
  { command: 'create', path: '/memories/deep/er/b.md', file_text: '' },
  { command: 'create', path: '/memories/deep/est/of/all.md', file_text: 'x' },
  { command: 'create', path: '/memories/.hidden', file_text: 'x' },
  { command: 'create', path: '/memories/big.md', file_text: 'x'.repeat(1600) },
  { command: 'create', path: '/memories/exact.md', file_text: 'x'.repeat(2048) },
  { command: 'create', path: '/memories/deep', file_text: 'a directory' },
  { command: 'view', path: '/memories' },
  { command: 'view', path: '/memories/deep' },
  { command: 'view', path: '/memories/a.md' },
  { command: 'view', path: '/memories/a.md', view_range: [2, 3] },
  { command: 'view', path: '/memories/a.md', view_range: [4, -1] },
  { command: 'view', path: '/memories/a.md', view_range: [0, 2] },
  { command: 'view', path: '/memories/a.md', view_range: [90, 99] },
  { command: 'view', path: '/memories/deep/er/b.md' },
  { command: 'view', path: '/memories/nothing' },
  { command: 'str_replace', path: '/memories/a.md', old_str: 'three', new_str: '3 $& $1' },
  { command: 'str_replace', path: '/memories/a.md', old_str: 'one', new_str: '1' },
  { command: 'str_replace', path: '/memories/a.md', old_str: 'six', new_str: '6' },
  { command: 'str_replace', path: '/memories/a.md', old_str: 'nowhere', new_str: '' },
  { command: 'str_replace', path: '/memories/a.md', old_str: 'f', new_str: '' },
  { command: 'str_replace', path: '/memories/nothing', old_str: 'a', new_str: 'b' },
  { command: 'str_replace', path: '/memories/deep', old_str: 'a', new_str: 'b' },
  { command: 'insert', path: '/memories/a.md', insert_line: 0, insert_text: 'zero\n' },
  { command: 'insert', path: '/memories/a.md', insert_line: 2, insert_text: 'one and a half' },
  { command: 'insert', path: '/memories/a.md', insert_line: 9, insert_text: 'at the end' },
  { command: 'insert', path: '/memories/a.md', insert_line: 99, insert_text: 'x' },
  { command: 'insert', path: '/memories/a.md', insert_line: -1, insert_text: 'x' },
  { command: 'insert', path: '/memories/nothing', insert_line: 0, insert_text: 'x' },
  { command: 'insert', path: '/memories/deep', insert_line: 0, insert_text: 'x' },
  { command: 'view', path: '/memories/a.md' },
  { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/moved/a.md' },
  { command: 'rename', old_path: '/memories/a.md', new_path: '/memories/b.md' },
  { command: 'rename', old_path: '/memories/moved/a.md', new_path: '/memories/big.md' },
  { command: 'rename', old_path: '/memories/deep', new_path: '/memories/deeper' },
  { command: 'rename', old_path: '/memories', new_path: '/memories/self' },
  { command: 'delete', path: '/memories/big.md' },
  { command: 'delete', path: '/memories/big.md' },
  { command: 'delete', path: '/memories/deeper' },
  { command: 'delete', path: '/memories' },
  { command: 'view', path: '/memories' },
  { command: 'view', path: '/secret' },
  { command: 'view', path: '/memories/../secret' },
]

describe('memoryHandlers', () => {
  it("answer as the SDK's own handlers do on a host directory", async () => {
    const base = await mkdtemp(join(tmpdir(), 'coppice-memory-'))
    const theirs = betaMemoryTool(await BetaLocalFilesystemMemoryTool.init(base))
    const ours = betaMemoryTool(memoryHandlers(new MemoryFs()))
    for (const command of commands) {
      expect(await outcome(ours, command), JSON.stringify(command)).toEqual(await outcome(theirs, command))
    }
    await rm(base, { recursive: true })
  })
})

/** Directory sizes differ: the host reports blocks, we report the size of the content. */
const DIRECTORY_SIZES = /^[\d.]+[BKMG]\t(\/memories(?:\/.*\/|\/deep)?)$/gm

async function outcome(
  tool: ReturnType<typeof betaMemoryTool>,
  command: BetaMemoryTool20250818Command,
): Promise<string> {
  try {
    return String(await tool.run(command)).replaceAll(DIRECTORY_SIZES, '<size>\t$1')
  } catch (error) {
    return String(error instanceof Error ? error.message : error)
  }
}
