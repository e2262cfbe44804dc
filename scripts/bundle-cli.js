import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

const root = fileURLToPath(new URL('..', import.meta.url))
const target = join(root, 'dist/cli')
/** Small, and needed by many commands. All others are loaded by the commands that need them. */
const BUNDLED = ['ignore', 'smol-toml', 'unbash']
/** Functions that replace newer syntax. */
const HELPERS = '@oxc-project/runtime/'

// The command line in a few files: Node takes half a millisecond and more to load each, and there are hundreds.
const programs = ['src/cli/main.ts', ...globSync('src/**/*-{worker,process}.ts', { cwd: root })]
const bundle = await bundled(programs)
const forExec = await modulesOf([
  'src/cli/dispatch.ts',
  'src/cli/commands/start/exec.ts',
  'src/boundary/index.ts',
])
await bundle.write({
  dir: target,
  format: 'esm',
  chunkFileNames: '[name]-[hash].js',
  // Without their text: the package has the sources.
  sourcemap: true,
  sourcemapExcludeSources: true,
  // Without comments and indentation, which take time to read at every start. Names stay, for whoever reads a trace.
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
writeFileSync(join(target, 'LICENSES.txt'), BUNDLED.map(licenseOf).join('\n\n'))

function bundled(paths) {
  return rolldown({
    input: Object.fromEntries(paths.map((path) => [basename(path, '.ts'), join(root, path)])),
    platform: 'node',
    // The oldest Node we support has no `using`. The bundler has the helper that replaces it.
    transform: { target: 'es2024' },
    external: (id) => /^[^./]/.test(id) && !BUNDLED.includes(id) && !id.startsWith(HELPERS),
    // No module of ours does anything by being loaded, programs aside.
    treeshake: { moduleSideEffects: false },
    preserveEntrySignatures: 'allow-extension',
    checks: { ineffectiveDynamicImport: false },
  })
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

function licenseOf(name) {
  const directory = join(root, 'node_modules', name)
  const [file = ''] = globSync('LICENSE*', { cwd: directory })
  return `${name}\n\n${readFileSync(join(directory, file), 'utf8')}`
}
