import { basename, join } from 'node:path'
import { rolldown } from 'rolldown'
import { bundleOptions, ONE_PROGRAM, programs, root } from './bundle-options.js'
import { writeLicenses } from './licenses.js'
import { plainBuiltins } from './plain-builtins.js'

const target = join(root, 'dist/cli')
/** Small, and needed by many commands. All others are loaded by the commands that need them. */
const BUNDLED = ['ignore', 'smol-toml', 'unbash', ...ONE_PROGRAM]

// The command line in a few files: Node takes half a millisecond and more to load each, and there are hundreds.
/** What the bundle for hooks loads when something changed. */
const CHANGED_DIRECTORY = 'record-changed-directory'
const bundle = await bundled([
  'src/cli/main.ts',
  `src/cli/commands/undo/${CHANGED_DIRECTORY}.ts`,
  ...programs,
])
const forExec = await modulesOf([
  'src/cli/dispatch.ts',
  'src/cli/commands/start/exec.ts',
  'src/cli/commands/start/enter.ts',
  // Loaded later, and by every command that opens a home.
  'src/cli/access/recover-directory.ts',
  'src/boundary/index.ts',
  'src/workspace/index.ts',
])
await bundle.write({
  dir: target,
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  // Without comments and indentation, which take time to read at every start. Names stay: a trace shows them.
  minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  codeSplitting: {
    // One for what `exec` and `enter` need, whose start is the one that counts, and one for all other commands, which
    // `--help` reads anyway. The scenes of the demo stay apart, since they load a hundred files of zod.
    groups: [
      {
        name: 'runtime',
        test: /rolldown[\\/]runtime|oxc-project[\\/]runtime|src\/cli\/(?:package-root|framework\/terminal)/,
        priority: 1,
      },
      { name: 'exec', test: (id) => forExec.has(id) },
      { name: 'commands', test: /src\/cli\/(?!main|commands\/start\/demo-scenes)/ },
    ],
  },
})
await writeHookBundle()
writeLicenses(target, BUNDLED)

/**
 * Writes what a hook of an agent needs when nothing changed. CommonJS, because Node takes milliseconds to present its own
 * modules to others.
 */
async function writeHookBundle() {
  const options = bundleOptions({ hook: join(root, 'src/cli/commands/undo/hook-main.ts') }, BUNDLED)
  const later = {
    name: 'later',
    resolveId: (id) =>
      id.includes(CHANGED_DIRECTORY) ? { id: `./${CHANGED_DIRECTORY}.js`, external: 'relative' } : undefined,
  }
  const hook = await rolldown({ ...options, plugins: [later] })
  await hook.write({
    file: join(target, 'hook.cjs'),
    format: 'cjs',
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
  })
}

function bundled(paths) {
  const input = Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(root, path)]))
  const options = bundleOptions(input, BUNDLED)
  return rolldown({ ...options, plugins: [plainBuiltins], preserveEntrySignatures: 'allow-extension' })
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
