import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMcp } from '../mcp.ts'
import { prepareServedDirectory } from '../served-directory.ts'
import { calls, coppice } from './calls.ts'
import { prepareServingHome } from './serving-home.ts'

/** The files in a directory of this machine, as the peer has them. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const root = prepareServedDirectory(settings, 'mcp-host')
  const { path: home } = prepareServingHome(settings, 'mcp-host-home')
  await measureMcp(recorder, settings, {
    ...calls,
    args: coppice('mcp', '--home', home, '--allow', root, '--context', 'bench'),
    root,
    list: (path) => ({ name: 'file_glob', arguments: { path, pattern: '*' } }),
  })
}
