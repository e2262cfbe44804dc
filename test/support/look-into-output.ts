/**
 * Keeps an output of 100 MiB below a directory, in a vault or as a plain file, looks into it with the tools, and prints
 * what each step held at most beyond the output itself, in MiB: `look-into-output.ts host|vault <directory>`.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { HostFs } from '../../src/backends/host/index.ts'
import { openHome } from '../../src/backends/vault/index.ts'
import { createToolRegistry, OutputCache } from '../../src/tools/index.ts'

const LINE_BYTES = 64
const MIB = 1024 ** 2

const LOOKS: readonly (readonly [tool: string, args: object, expected: RegExp])[] = [
  ['file_head', { lines: 3 }, /^1\.\./m],
  ['file_tail', { lines: 3 }, /^1638400\.\./m],
  ['file_lines', { start: 1_000_000, end: 1_000_002 }, /^1000001\.\./m],
  ['file_grep', { pattern: '^1234567[.]' }, /1234567\.\./],
]

const [kind, directory = ''] = process.argv.slice(2)
const held: Record<string, number> = {}
await using home = kind === 'vault' ? await openHome({ path: directory }) : undefined
const fs = home === undefined ? new HostFs(directory) : await home.createVault('zones')
const cache = new OutputCache(fs)
const large = numberedLines(100 * MIB)
// What a process pays once is no part of it, such as the thread that hashes large content.
await cache.keep('alice', 'shell_exec', numberedLines(32 * MIB))
const { cached } = await measured('keep', () => cache.keep('alice', 'shell_exec', large))
const tools = createToolRegistry({ fs, cache }, { context: 'bob' })
for (const [name, args, expected] of LOOKS) {
  const { text } = await measured(name, () => tools.call(name, { path: cached?.uri, ...args }))
  if (!expected.test(text)) throw new Error(`${name} gave ${text.slice(0, 500)}`)
}
process.stdout.write(JSON.stringify(held))

/** Lines that begin with their number, no two alike. */
function numberedLines(bytes: number): string {
  const lines = Buffer.alloc(bytes, '.')
  for (let at = 0; at < bytes; at += LINE_BYTES) {
    lines.write(String(at / LINE_BYTES + 1), at, 'latin1')
    lines.write('\n', at + LINE_BYTES - 1, 'latin1')
  }
  return lines.toString('latin1')
}

async function measured<T>(name: string, act: () => Promise<T>): Promise<T> {
  globalThis.gc?.()
  globalThis.gc?.()
  // From here on Linux counts the peak anew.
  writeFileSync('/proc/self/clear_refs', '5')
  const before = mebibytes('VmRSS')
  const result = await act()
  held[name] = mebibytes('VmHWM') - before
  return result
}

function mebibytes(name: string): number {
  const status = readFileSync('/proc/self/status', 'utf8')
  return Number(new RegExp(`${name}:\\s+(\\d+)`).exec(status)?.[1]) / 1024
}
