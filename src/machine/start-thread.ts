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
 * Starts a thread whose program lies beside the module that asks, as source or built.
 *
 * @param module the `import.meta.url` of who asks.
 * @param name the program's file without its ending.
 */
export function startThread(module: string, name: string, options: WorkerOptions): Worker {
  const ending = module.endsWith('.ts') ? '.ts' : '.js'
  const flags = selectThreadFlags(process.execArgv)
  return new Worker(new URL(`./${name}${ending}`, module), { ...options, ...flags })
}

/** A thread inherits all flags, but with that for the language of `node --eval` no file can be run. */
function selectThreadFlags(flags: readonly string[]): Pick<WorkerOptions, 'execArgv'> {
  if (!flags.some((flag) => flag.split('=', 1)[0] === '--input-type')) return {}
  // Of the others only these can be given one by one: what is about the whole process is refused.
  const kept = flags.flatMap((flag, at) => {
    if (MODULE_FLAGS.has(flag)) return [flag, flags[at + 1] ?? '']
    return MODULE_FLAGS.has(flag.split('=', 1)[0] ?? '') ? [flag] : []
  })
  return { execArgv: kept }
}
