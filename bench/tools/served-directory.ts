import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Settings } from '../harness/benchmark.ts'
import { directoriesOf } from '../vfs/corpus.ts'
import { servedFiles } from './mcp.ts'

/** A directory with the files to serve, made on first use. */
export function servedDirectory(settings: Settings, name: string): string {
  const root = join(settings.directory, name)
  if (existsSync(root)) return root
  const files = servedFiles(settings)
  for (const directory of [...directoriesOf(files), '/written'])
    mkdirSync(root + directory, { recursive: true })
  for (const { path, bytes } of files) writeFileSync(root + path, bytes)
  return root
}
