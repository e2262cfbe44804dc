// Loads the parts of the command line with the code that V8 compiled in earlier runs. Node's own compile cache keeps what
// V8 compiles when it loads a file, which is little: most functions are compiled when they are first called.
'use strict'
const fs = process.getBuiltinModule('node:fs')
const { createRequire } = process.getBuiltinModule('node:module')
const { basename, dirname, join } = process.getBuiltinModule('node:path')
const vm = process.getBuiltinModule('node:vm')

/** A part that has a hash of its content in its name. */
const PART = /-[\w-]{8}\.c?js$/
/** Number of runs that add the functions that they compiled. Later ones would find little, and writing takes time. */
const RUNS = 3
/** Above the length of a list of parts. */
const HEAD_BYTES = 32 * 1024
/** Name of the file whose time is that of the last recorded use. No command has such a name. */
const USE_MARK = '.used'
/** The use is recorded this often at most. */
const RECORDED_MS = 24 * 60 * 60 * 1000

/** The parts of the command line in a directory. Parts load others with the `require` that they get. */
exports.ProgramParts = class {
  #directory
  #cache
  #loaded = new Map()
  #scripts = new Map()

  /**
   * @param cache the file with the compiled code, or undefined for none. It must be this user's own: its content is
   * run.
   */
  constructor(directory, cache) {
    this.#directory = directory
    this.#cache = cache === undefined ? undefined : new CompiledCode(cache)
  }

  /** Loads a part by its name, once, and returns its exports. */
  load(name) {
    const known = this.#loaded.get(name)
    if (known !== undefined) return known.exports
    const path = join(this.#directory, name)
    const module = { exports: {} }
    this.#loaded.set(name, module)
    const run = this.#compile(name, path).runInThisContext()
    run.call(module.exports, module.exports, this.#createRequire(path), module, path, this.#directory)
    return module.exports
  }

  /** Keeps what was compiled for the next run. Does not throw: without it, the next run is slower. */
  save() {
    this.#cache?.save(this.#scripts, (name) => fs.existsSync(join(this.#directory, name)))
    this.#cache?.recordUse()
  }

  #compile(name, path) {
    const code = `(function(exports,require,module,__filename,__dirname){${fs.readFileSync(path, 'latin1')}\n})`
    const cachedData = this.#cache?.find(name)
    const script = new vm.Script(code, {
      filename: path,
      importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
      ...(cachedData !== undefined && { cachedData }),
    })
    if (PART.test(name)) this.#scripts.set(name, { script, isKnown: script.cachedDataRejected === false })
    return script
  }

  /** A part requires others of its directory by `./name`, and packages. */
  #createRequire(path) {
    let plain
    return (id) => {
      if (dirname(id) === '.' && id.startsWith('./')) return this.load(basename(id))
      plain ??= createRequire(path)
      return plain(id)
    }
  }
}

/**
 * A file with compiled code of parts: a line of JSON with their names and lengths, then the bytes of each part, twice.
 * Only parts that are loaded are read: a hook that finds no change needs a twentieth of what one needs that records
 * some.
 */
class CompiledCode {
  #path
  #file
  #runs = 0
  #parts = new Map()

  constructor(path) {
    this.#path = path
    try {
      this.#file = fs.openSync(path)
      this.#readHead()
    } catch {
      // None yet, or damaged.
    }
  }

  /** Returns the code of a part; undefined if there is none, or if it is damaged. */
  find(name) {
    const part = this.#parts.get(name)
    if (part === undefined) return undefined
    const { start, length } = part
    const bytes = Buffer.allocUnsafeSlow(2 * length)
    if (fs.readSync(this.#file, bytes, 0, bytes.length, start) < bytes.length) return undefined
    const code = bytes.subarray(0, length)
    // V8 does not check it, and does not survive damaged code. To compare takes no time; a checksum takes milliseconds,
    // because Node has to load all of zlib for it.
    return code.equals(bytes.subarray(length)) ? code : undefined
  }

  /** Writes the code of scripts, and that of other parts that still exist, if there is more than before. */
  save(scripts, exists) {
    const isComplete = [...scripts.values()].every(({ isKnown }) => isKnown)
    if (scripts.size === 0 || (isComplete && this.#runs >= RUNS)) return
    const others = [...this.#parts.keys()].filter((name) => !scripts.has(name) && exists(name))
    const parts = [
      ...others.map((name) => [name, this.find(name)]).filter(([, code]) => code !== undefined),
      ...[...scripts].map(([name, { script }]) => [name, script.createCachedData()]),
    ]
    const head = {
      runs: isComplete ? this.#runs + 1 : 1,
      parts: parts.map(([name, code]) => [name, code.length]),
    }
    this.#write([Buffer.from(`${JSON.stringify(head)}\n`), ...parts.flatMap(([, code]) => [code, code])])
  }

  /** Records at most once a day that the code is in use, and then removes other code that was not used for long. */
  recordUse() {
    const mark = join(dirname(this.#path), USE_MARK)
    const recorded = fs.statSync(mark, { throwIfNoEntry: false })
    if (recorded === undefined || Date.now() - recorded.mtimeMs > RECORDED_MS)
      require('./unused-code.cjs').removeUnusedCode(mark)
  }

  #readHead() {
    const bytes = Buffer.allocUnsafe(HEAD_BYTES)
    const text = bytes.latin1Slice(0, fs.readSync(this.#file, bytes, 0, HEAD_BYTES, 0))
    const end = text.indexOf('\n')
    const { runs, parts } = JSON.parse(text.slice(0, end))
    let start = end + 1
    for (const [name, length] of parts) {
      this.#parts.set(name, { start, length })
      start += 2 * length
    }
    this.#runs = runs
  }

  #write(pieces) {
    const draft = `${this.#path}.${process.pid}`
    try {
      fs.mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 })
      fs.writeFileSync(draft, Buffer.concat(pieces), { mode: 0o600 })
      fs.renameSync(draft, this.#path)
    } catch {
      fs.rmSync(draft, { force: true })
    }
  }
}
