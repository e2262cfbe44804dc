import { dirname, join } from 'node:path'
import { getLibFiles, ts } from '@ts-morph/common'
import { describe, expect, it } from 'vitest'
import { type NodeFs, nodeFs } from '../../../src/adapters/node-fs/index.ts'
import { openHome } from '../../../src/backends/vault/index.ts'
import { readText } from '../../../src/vfs/index.ts'

/** Path of the compiler's own declarations in the vault. */
const libraries = '/libraries'

/** The compiler's view of the system, with every project file in `fs`. */
function systemOn(fs: NodeFs): ts.System {
  return {
    ...ts.sys,
    useCaseSensitiveFileNames: true,
    getCurrentDirectory: () => '/',
    fileExists: (path) => fs.statSync(path, { throwIfNoEntry: false })?.isFile() ?? false,
    directoryExists: (path) => fs.statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false,
    getDirectories: (path) =>
      fs
        .readdirSync(path, { withFileTypes: true })
        .filter((entry) => entry.isDirectory())
        .map(({ name }) => name),
    readDirectory: (path) =>
      fs
        .readdirSync(path, { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(path, name)),
    readFile: (path) => fs.readFileSync(path, 'utf8'),
    realpath: (path) => fs.realpathSync(path),
    writeFile: (path, text) => {
      fs.mkdirSync(dirname(path), { recursive: true })
      fs.writeFileSync(path, text)
    },
    getExecutingFilePath: () => join(libraries, 'tsc.js'),
  }
}

function hostOn(system: ts.System, options: ts.CompilerOptions): ts.CompilerHost {
  const { fileExists, readFile, writeFile, directoryExists, getDirectories, getCurrentDirectory } = system
  return {
    fileExists,
    readFile,
    writeFile,
    directoryExists,
    getDirectories,
    getCurrentDirectory,
    realpath: (path) => system.realpath?.(path) ?? path,
    useCaseSensitiveFileNames: () => true,
    getCanonicalFileName: (path) => path,
    getNewLine: () => '\n',
    getDefaultLibFileName: () => join(libraries, ts.getDefaultLibFileName(options)),
    getDefaultLibLocation: () => libraries,
    getSourceFile: (path, version) => {
      const text = readFile(path)
      return text === undefined ? undefined : ts.createSourceFile(path, text, version)
    },
  }
}

function check(fs: NodeFs): string[] {
  const system = systemOn(fs)
  const config = ts.readConfigFile('/project/tsconfig.json', system.readFile)
  const { fileNames, options } = ts.parseJsonConfigFileContent(config.config, system, '/project')
  const program = ts.createProgram(fileNames, options, hostOn(system, options))
  program.emit()
  return ts
    .getPreEmitDiagnostics(program)
    .map(({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, ' ')}`)
}

describe('the TypeScript compiler on a vault', () => {
  it('checks and compiles a project with files, links and packages', async () => {
    await using home = await openHome()
    const vault = await home.createVault('work')
    for (const { fileName, text } of getLibFiles()) await vault.write(`${libraries}/${fileName}`, text)
    const options = { module: 'nodenext', target: 'es2022', lib: ['es2022'], types: [], outDir: '/out' }
    await vault.write('/project/tsconfig.json', JSON.stringify({ compilerOptions: options }))
    await vault.write('/project/package.json', '{ "type": "module" }')
    await vault.write(
      '/project/src/main.ts',
      "import { twice } from 'doubled'\nexport const four: number = twice(2)\n",
    )
    await vault.write('/packages/doubled/package.json', '{ "name": "doubled", "types": "./index.d.ts" }')
    await vault.write(
      '/packages/doubled/index.d.ts',
      'export declare function twice(value: number): number\n',
    )
    await vault.mkdir('/project/node_modules')
    await vault.symlink('/packages/doubled', '/project/node_modules/doubled')
    const fs = nodeFs(vault)
    expect(check(fs)).toEqual([])
    expect(await readText(vault, '/out/main.js')).toContain('export const four = twice(2)')

    await vault.write(
      '/packages/doubled/index.d.ts',
      'export declare function twice(value: string): string\n',
    )
    expect(check(fs)).toEqual([
      "/project/src/main.ts: Type 'string' is not assignable to type 'number'.",
      "/project/src/main.ts: Argument of type 'number' is not assignable to parameter of type 'string'.",
    ])
  })
})
