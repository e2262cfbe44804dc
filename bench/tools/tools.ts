import type { Benchmark } from '../harness/benchmark.ts'
import { bytes, createSubjectFactory, rate, time } from '../harness/entries.ts'
import { targets } from './targets.ts'

const subject = createSubjectFactory(import.meta.url)

/** Tools as an agent calls them: behind the guard, through an MCP client, on outputs that were kept. */
export const tools: Benchmark = {
  name: 'tools',
  summary: 'guard, output cache and MCP server against @modelcontextprotocol/server-filesystem',
  subjects: [
    subject('coppice', {
      guard: './coppice/guard.ts',
      cache: './coppice/cache.ts',
      mcp: './coppice/mcp-vault.ts',
      connect: './coppice/connect.ts',
    }),
    subject('coppice-fork', { mcp: './coppice/mcp-fork.ts' }),
    subject('coppice-host', { mcp: './coppice/mcp-host.ts' }),
    subject('server-filesystem', {
      mcp: './peers/server-filesystem.ts',
      connect: './peers/server-filesystem-connect.ts',
    }),
  ],
  works: [
    rate('read-memory', 'read 1 KiB in memory'),
    rate('read-memory-guarded', 'read it through the guard'),
    rate('read-vault', 'read 1 KiB in a vault'),
    rate('read-vault-guarded', 'read it through the guard'),
    rate('mcp-read', 'MCP: read a file of 1 KiB¹'),
    rate('mcp-write', 'MCP: write a file of 1 KiB²'),
    rate('mcp-list', 'MCP: list a directory of 100 files'),
    rate('mcp-edit', 'MCP: replace a string in a file²'),
    time('mcp-search', 'MCP: find 50 of 10,000 files by name'),
    time('mcp-connect', 'MCP: from start to connected⁴'),
    bytes('cache-keep', 'keep an output of 100 MiB, held³'),
    bytes('cache-file_head', 'its first lines, held³'),
    bytes('cache-file_tail', 'its last lines, held³'),
    bytes('cache-file_lines', 'lines from its middle, held³'),
    bytes('cache-file_grep', 'grep through it, held³'),
  ],
  targets,
  hasQuickForm: true,
  notes: [
    'coppice: vault with the files, in a process of its own behind stdio. coppice-fork: a fork of a directory with them.',
    'coppice-host: that directory itself.',
    '¹ One call after the other through the official client, the same for all.',
    '² coppice-host syncs every file before it takes its name; server-filesystem leaves that to the system, and so do',
    'coppice and coppice-fork, which write a journal.',
    '³ The peak of resident memory beyond that before the call, with a small nursery, so that garbage does not wait.',
    '⁴ Less what `node -e 0` takes. coppice as it is built, with a fork of a directory: build it first.',
  ],
}
