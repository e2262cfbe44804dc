import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundleOptions, ONE_PROGRAM, programs, root } from './bundle-options.js'
import { writeLicenses } from './licenses.js'

const target = join(root, 'dist/cli')
/** Small, and needed by many commands. All others are loaded by the commands that need them. */
const BUNDLED = ['ignore', 'smol-toml', 'unbash', ...ONE_PROGRAM]

// The command line in a few files: Node takes half a millisecond and more to load each, and there are hundreds.
const bundle = await bundled(['src/cli/main.ts', ...programs])
const forExec = await modulesOf([
  'src/cli/dispatch.ts',
  'src/cli/commands/start/exec.ts',
  'src/boundary/index.ts',
])
await bundle.write({
  dir: target,
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  // Without comments and indentation, which take time to read at every start. Names stay: a trace shows them.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  codeSplitting: {
    // One for what `exec` needs, whose start is the one that counts, and one for all other commands, which `--help`
    // reads anyway.
    groups: [
      {
        name: 'runtime',
        test: /rolldown[\\/]runtime|oxc-project[\\/]runtime|src\/cli\/(?:package-root|framework\/terminal)/,
        priority: 1,
      },
      { name: 'exec', test: (id) => forExec.has(id) },
      { name: 'commands', test: /src\/cli\/(?!main)/ },
    ],
  },
})
writeLicenses(target, BUNDLED)

function bundled(paths) {
  const input = Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(root, path)]))
  return rolldown({ ...bundleOptions(input, BUNDLED), preserveEntrySignatures: 'allow-extension' })
}

/** The modules that are loaded with some, without what they load later. */
async function modulesOf(paths) {
  const { output } = await (await bundled(paths)).generate({ format: 'esm' })
  const chunks = new Map(output.flatMap((chunk) => (chunk.type === 'chunk' ? [[chunk.fileName, chunk]] : [])))
  const needed = new Set()
  const add = (chunk) => {
    if (chunk === undefined || needed.has(chunk)) return
    needed.add(chunk)
    for (const name of chunk.imports) add(chunks.get(name))
  }
  for (const chunk of chunks.values()) if (chunk.isEntry) add(chunk)
  return new Set([...needed].flatMap((chunk) => chunk.moduleIds))
}
