import { readFile } from 'node:fs/promises'
import { basename } from 'node:path'
import { isErrno } from '../../../machine/index.ts'
import { isVfsError, VfsError } from '../../../vfs/index.ts'
import { CommandError } from '../../framework/errors.ts'

/** A copy of a script in the daemon, whose name ends in a part of its hash. */
const STORED_SCRIPT = /^\/[^/]+-[0-9a-f]{8}\.(?:ya?ml|ndjson|jsonl)$/

/** Reads a script. CommandError if it is missing or empty. */
export async function readScript(file: string): Promise<{ readonly name: string; readonly text: string }> {
  try {
    const text = await readFile(file, 'utf8')
    if (text.trim() === '') throw new CommandError(`${file} is empty; a script has at least one response`)
    return { name: basename(file), text }
  } catch (error) {
    if (isErrno(error, 'ENOENT')) {
      throw new CommandError(`there is no file ${file}; --script takes a YAML or NDJSON file of responses`)
    }
    throw error
  }
}

/** Names the file as it was typed in the error of a daemon about its copy; returns any other error as it is. */
export function toScriptError(file: string | undefined, error: unknown): unknown {
  if (file === undefined || !isVfsError(error, 'EINVAL') || !STORED_SCRIPT.test(error.path)) return error
  const { op = 'spawn', detail = 'not a valid script' } = error
  return new VfsError('EINVAL', file, { op, detail, cause: error })
}
