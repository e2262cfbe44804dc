import type { Bash, BashExecResult, BashOptions, ExecOptions } from 'just-bash'
import { errorCodes, type FileSystem, isVfsError, type VfsError } from '../../vfs/index.ts'
import { type BashFileSystemOptions, bashFileSystem } from './bash-file-system.ts'
import { loadJustBash } from './load-just-bash.ts'

/** What `Bash` takes, but for the files: those are the file system's. */
export type CreateBashOptions = Omit<BashOptions, 'fs' | 'files'> & BashFileSystemOptions

/**
 * A shell whose files are a file system's; it starts in `/`. A redirection that the file system refuses ends the
 * script with exit code 1, where a plain `Bash` has its `exec` reject. ENOTSUP if just-bash is not installed.
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

/** As a shell says it: `bash: /a/b: Read-only file system`. */
function formatShellError({ path, detail, code }: VfsError): string {
  const words = detail ?? errorCodes[code]
  return `bash: ${path}: ${words.charAt(0).toUpperCase()}${words.slice(1)}\n`
}
