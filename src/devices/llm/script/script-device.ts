import type { Device, DeviceEntry } from '../../../kernel/index.ts'
import { type FileSystem, readText, VfsError } from '../../../vfs/index.ts'
import { type AskModel, openConversation } from '../request/model-device.ts'
import { type ModelScript, parseScript } from './parse-script.ts'
import { Playback } from './playback.ts'

/** Options of `scriptDevice`. */
export interface ScriptOptions {
  /** File system with the scripts. */
  readonly fs: FileSystem
  /** Directory with the scripts; the root when absent. */
  readonly directory?: string
}

const PATH = '/dev/llm/script'
const EXTENSIONS = ['', '.yaml', '.yml', '.ndjson', '.jsonl']
const SCRIPT_FILE = /\.(?:ya?ml|ndjson|jsonl)$/
const NAME = /^\w[\w.-]*$/

/**
 * Creates a model that replays a script and fails if a request is not what the script expects.
 * `/dev/llm/script/<name>` plays the script of that name; `/dev/llm/script` the one that a request names as its model.
 */
export function scriptDevice({ fs, directory = '/' }: ScriptOptions): Device {
  const scripts = new Scripts(fs, directory === '/' ? '' : directory)
  const begin = (subpath: string): AskModel | Promise<AskModel> =>
    subpath === '' ? askByModel(scripts) : askByName(scripts, subpath.slice(1))
  return {
    match: 'prefix',
    open: (subpath, _mode, ctx) => openConversation({ path: PATH, begin }, subpath, ctx),
    list: (subpath) => scripts.list(subpath),
  }
}

async function askByName(scripts: Scripts, name: string): Promise<AskModel> {
  const playback = await scripts.open(name)
  return (request, signal) => playback.answer(`${PATH}/${name}`, request, signal)
}

/** Plays the script that a request names as its model. Each script keeps its position during the conversation. */
function askByModel(scripts: Scripts): AskModel {
  const playbacks = new Map<string, Promise<Playback>>()
  return async (request, signal) => {
    const playback = playbacks.get(request.model) ?? scripts.open(request.model)
    playbacks.set(request.model, playback)
    return (await playback).answer(PATH, request, signal)
  }
}

/** A script in the cache: parsed once for all conversations; a shared one keeps its position. */
interface LoadedScript {
  readonly text: string
  readonly script: ModelScript
  readonly shared: Playback
}

/** Scripts of a directory. */
class Scripts {
  readonly #fs: FileSystem
  readonly #directory: string
  readonly #loaded = new Map<string, LoadedScript>()

  constructor(fs: FileSystem, directory: string) {
    this.#fs = fs
    this.#directory = directory
  }

  /**
   * Opens a script at its beginning; a shared one continues, unless its file has changed. ENOENT if there is no script
   * of that name, EINVAL if it is malformed.
   */
  async open(name: string): Promise<Playback> {
    const { script, shared } = await this.#read(await this.#findFile(name))
    return script.shared ? shared : new Playback(script)
  }

  async #read(file: string): Promise<LoadedScript> {
    const text = await readText(this.#fs, file)
    const script = this.#findUnchanged(file, text)?.script ?? (await parseScript(file, text))
    // Look again: a concurrent open must get the same copy.
    const loaded = this.#findUnchanged(file, text) ?? { text, script, shared: new Playback(script) }
    this.#loaded.set(file, loaded)
    return loaded
  }

  #findUnchanged(file: string, text: string): LoadedScript | undefined {
    const loaded = this.#loaded.get(file)
    return loaded?.text === text ? loaded : undefined
  }

  async list(subpath: string): Promise<DeviceEntry[]> {
    if (subpath !== '') return []
    const names = await this.#listNames()
    return names.map((name) => ({ name: name.replace(SCRIPT_FILE, ''), type: 'device' }))
  }

  async #findFile(name: string): Promise<string> {
    if (NAME.test(name)) {
      for (const extension of EXTENSIONS) {
        const file = `${this.#directory}/${name}${extension}`
        if (SCRIPT_FILE.test(file) && (await this.#fs.exists(file))) return file
      }
    }
    const names = (await this.#listNames()).map((file) => file.replace(SCRIPT_FILE, ''))
    const available = names.length === 0 ? 'there are none' : `there are: ${names.join(', ')}`
    const detail =
      name === '' ? `name a script with 'model'; ${available}` : `there is no script '${name}'; ${available}`
    throw new VfsError('ENOENT', `${PATH}/${name}`, { op: 'open', detail })
  }

  async #listNames(): Promise<string[]> {
    const directory = this.#directory === '' ? '/' : this.#directory
    if (!(await this.#fs.exists(directory))) return []
    const names: string[] = []
    for await (const { name } of this.#fs.readdir(directory)) if (SCRIPT_FILE.test(name)) names.push(name)
    return names.sort()
  }
}
