import type { PyodideInterface } from 'pyodide'
import type { PyDict } from 'pyodide/ffi'
import { isVfsError, VfsError } from '../../vfs/index.ts'
import { connectFileSystem } from '../threads/index.ts'
import { installInterrupts } from './interrupts.ts'
import { loadPyodidePackage } from './load-pyodide.ts'
import { mountInPyodide, type PyodideMount } from './mount-in-pyodide.ts'
import type { InterpreterSetup, PythonMessage, PythonRequest } from './python-messages.ts'

type SendMessage = (message: PythonMessage) => void

/**
 * Functions of the interpreter outside the programs' namespace. An interrupt or exit ends the program alone: the
 * event loop would pass it on to the thread. Import caches are cleared, since files may have changed.
 */
const RUNTIME_FUNCTIONS = `
import asyncio, sys

_loop = asyncio.get_event_loop()
_loop._keyboard_interrupt_handler = lambda: None
_loop._system_exit_handler = lambda code: None

def prepare():
    for finder in list(sys.path_importer_cache.values()):
        if type(finder).__name__ == "FileFinder":
            finder.invalidate_caches()

def flush():
    sys.stdout.flush()
    sys.stderr.flush()

def chdir(path):
    import os
    os.chdir(path)
    sys.path.insert(0, path)
`

/** Pyodide in its thread, with the files of another thread. */
export class Interpreter {
  readonly #pyodide: PyodideInterface
  readonly #mounts = new Map<string, PyodideMount>()
  readonly #globals: PyDict
  readonly #rearmSignals: () => void

  private constructor(pyodide: PyodideInterface, rearmSignals: () => void) {
    this.#pyodide = pyodide
    this.#rearmSignals = rearmSignals
    this.#globals = pyodide.toPy({})
    this.#runInternal(RUNTIME_FUNCTIONS)
  }

  static async start({ env, interrupts }: InterpreterSetup, send: SendMessage): Promise<Interpreter> {
    const { loadPyodide } = await loadPyodidePackage()
    const pyodide = await loadPyodide({ env: { ...env } })
    const rearmSignals = installInterrupts(pyodide, interrupts)
    pyodide.setStdout({ write: createWriter('stdout', send), isatty: false })
    pyodide.setStderr({ write: createWriter('stderr', send), isatty: false })
    pyodide.setStdin({ stdin: () => undefined })
    return new Interpreter(pyodide, rearmSignals)
  }

  /** Converts an error to a message: a Python exception, or else a VfsError. */
  static toFailureMessage(error: unknown): PythonMessage {
    if (isVfsError(error)) return { kind: 'failed', error: error.toJSON() }
    if (error instanceof Error && 'type' in error && typeof error.type === 'string') {
      return { kind: 'raised', exception: { type: error.type, traceback: error.message } }
    }
    const detail = error instanceof Error ? error.message : String(error)
    return { kind: 'failed', error: new VfsError('EINTERNAL', '/', { op: 'run', detail }).toJSON() }
  }

  async answer(request: PythonRequest): Promise<PythonMessage> {
    try {
      return { kind: 'done', value: await this.#handle(request) }
    } catch (error) {
      return Interpreter.toFailureMessage(error)
    }
  }

  #handle(request: PythonRequest): unknown {
    switch (request.kind) {
      case 'mount':
        return this.#mount(request)
      case 'unmount':
        return this.#unmount(request.path)
      case 'chdir':
        return this.#chdir(request.path)
      case 'run':
        return this.#run(request.code)
    }
  }

  #mount({ path, channel, umask }: Extract<PythonRequest, { kind: 'mount' }>): void {
    this.#mounts.set(path, mountInPyodide(this.#pyodide, connectFileSystem(channel), path, { umask }))
  }

  #unmount(path: string): void {
    this.#mounts.get(path)?.unmount()
    this.#mounts.delete(path)
  }

  /** Changes the directory and searches it for modules, as beside a script. */
  #chdir(path: string): void {
    this.#runInternal(`chdir(${JSON.stringify(path)})`)
  }

  async #run(code: string): Promise<unknown> {
    this.#rearmSignals()
    this.#runInternal('prepare()')
    try {
      return this.#toJsValue(await this.#pyodide.runPythonAsync(code))
    } finally {
      this.#runInternal('flush()')
    }
  }

  #runInternal(code: string): void {
    this.#pyodide.runPython(code, { globals: this.#globals })
  }

  /** Converts a value so that it can leave the thread; uses Python's `str` if there is no equivalent. */
  #toJsValue(value: unknown): unknown {
    if (!(value instanceof this.#pyodide.ffi.PyProxy)) return value
    try {
      return structuredClone(value.toJs({ create_pyproxies: false, dict_converter: Object.fromEntries }))
    } catch {
      return value.toString()
    } finally {
      value.destroy()
    }
  }
}

function createWriter(stream: 'stdout' | 'stderr', send: SendMessage): (bytes: Uint8Array) => number {
  // Two writes may split a character.
  const decoder = new TextDecoder()
  return (bytes) => {
    send({ kind: 'output', stream, text: decoder.decode(bytes, { stream: true }) })
    return bytes.length
  }
}
