import type { Recorder, Settings } from '../../harness/benchmark.ts'
import { measureMcp } from '../mcp.ts'
import { prepareServedDirectory } from '../served-directory.ts'
import { calls, coppice } from './calls.ts'
import { prepareServingHome } from './serving-home.ts'

/** A fork of the directory that the peer has, as `coppice mcp` serves it where it is started. */
export async function measure(recorder: Recorder, settings: Settings): Promise<void> {
  const { path: home } = prepareServingHome(settings, 'mcp-fork-home')
  await measureMcp(recorder, settings, {
    ...calls,
    args: coppice('mcp', '--home', home, '--context', 'bench'),
    cwd: prepareServedDirectory(settings, 'mcp-fork'),
    root: 'vfs:///workspace',
    list: (path) => ({ name: 'vfs_list', arguments: { path } }),
  })
}
