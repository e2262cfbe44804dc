import { Worker, type WorkerOptions } from 'node:worker_threads'

/** Options with a value that control where and how modules are loaded. A thread needs them too. */
const MODULE_FLAGS: ReadonlySet<string> = new Set([
  '--conditions',
  '-C',
  '--import',
  '--require',
  '-r',
  '--loader',
  '--experimental-loader',
])

/**
 * Starts a thread with a program beside the calling module, as source or built.
 *
 * @param module the `import.meta.url` of the caller.
 * @param name the program's file without its extension.
 */
export function startThread(module: string, name: string, options: WorkerOptions): Worker {
  const extension = module.endsWith('.ts') ? '.ts' : '.js'
  const flags = selectThreadFlags(process.execArgv)
  return new Worker(new URL(`./${name}${extension}`, module), { ...options, ...flags })
}

/**
 * Returns the flags for a thread, or none, so that it inherits all. It cannot inherit `--input-type`, which goes with
 * `--eval`: Node refuses to run a file with it.
 */
function selectThreadFlags(flags: readonly string[]): Pick<WorkerOptions, 'execArgv'> {
  if (!flags.some((flag) => flag.split('=', 1)[0] === '--input-type')) return {}
  // A thread refuses flags of the whole process, so only these are passed on.
  const kept = flags.flatMap((flag, index) => {
    if (MODULE_FLAGS.has(flag)) return [flag, flags[index + 1] ?? '']
    return MODULE_FLAGS.has(flag.split('=', 1)[0] ?? '') ? [flag] : []
  })
  return { execArgv: kept }
}
