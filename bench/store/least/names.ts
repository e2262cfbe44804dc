import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureNames, type NamesSubject } from '../names.ts'
import { chooseScale } from '../scale.ts'
import { BareRows } from './rows.ts'

/** One journal row for each change of a name: no directory is looked for, and none must be empty. */
export function measure(recorder: Recorder, settings: Settings): Promise<void> {
  let tables = 0
  const subject: NamesSubject = {
    async open() {
      const rows = new BareRows(`${settings.directory}/name-rows-${process.pid}-${++tables}.db`)
      return {
        mkdir: (path) => rows.commit('mkdir', path),
        rename: (from, to) => rows.commit('rename', `${from} ${to}`),
        remove: (path) => rows.commit('remove', path),
        [Symbol.asyncDispose]: async () => rows[Symbol.dispose](),
      }
    },
  }
  return measureNames(recorder, subject, chooseScale(settings).textFiles)
}
