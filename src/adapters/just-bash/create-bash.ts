import type { Bash, BashExecResult, BashOptions, ExecOptions } from 'just-bash'
import { errorCodes, type FileSystem, isVfsError, type VfsError } from '../../vfs/index.ts'
import { type BashFileSystemOptions, bashFileSystem } from './bash-file-system.ts'
import { loadJustBash } from './load-just-bash.ts'

/** Options of `Bash` without the files, which the file system provides. */
export type CreateBashOptions = Omit<BashOptions, 'fs' | 'files'> & BashFileSystemOptions

/**
 * Creates a shell on a file system; it starts in `/`. A redirection that the file system refuses ends the
 * script with exit code 1, whereas `exec` of a plain `Bash` rejects. ENOTSUP if just-bash is not installed.
 */
export async function createBash(fs: FileSystem, { ctx, ...options }: CreateBashOptions = {}): Promise<Bash> {
  const { Bash } = await loadJustBash()
  class Shell extends Bash {
    override async exec(script: string, execOptions?: ExecOptions): Promise<BashExecResult> {
      try {
        return await super.exec(script, execOptions)
      } catch (error) {
        if (!isVfsError(error)) throw error
        return { stdout: '', stderr: formatShellError(error), exitCode: 1, env: this.getEnv() }
      }
    }
  }
  return new Shell({ cwd: '/', ...options, fs: bashFileSystem(fs, ctx === undefined ? {} : { ctx }) })
}

/** Formats an error as a shell does: `bash: /a/b: Read-only file system`. */
function formatShellError({ path, detail, code }: VfsError): string {
  const words = detail ?? errorCodes[code]
  return `bash: ${path}: ${words.charAt(0).toUpperCase()}${words.slice(1)}\n`
}
