import { rm } from 'node:fs/promises'
import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureNames, type NamesSubject } from '../names.ts'
import { chooseScale } from '../scale.ts'
import { openBenchHome } from './homes.ts'

export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  return measureNames(recorder, vaultNames(settings), chooseScale(settings).textFiles)
}

function vaultNames(settings: Settings): NamesSubject {
  let volumes = 0
  return {
    async open(directories, files) {
      const directory = `${settings.directory}/names-${process.pid}-${++volumes}`
      const home = await openBenchHome(settings, directory)
      const vault = await home.createVault('vault')
      for (const path of directories) await vault.mkdir(path)
      await Promise.all(files.map((path) => vault.write(path, '')))
      return {
        mkdir: (path) => vault.mkdir(path),
        rename: (from, to) => vault.rename(from, to),
        remove: (path) => vault.remove(path),
        [Symbol.asyncDispose]: async () => {
          await home.close()
          await rm(directory, { recursive: true })
        },
      }
    },
  }
}
