/** The API of the peers that the benchmark uses; see `vfs/peers.d.ts` for why the types are here. */
declare module 'agentfs-sdk' {
  interface FileSystem {
    mkdir(path: string): Promise<void>
    writeFile(path: string, data: Buffer): Promise<void>
    readFile(path: string): Promise<Buffer>
    stat(path: string): Promise<{ readonly size: number }>
    readdirPlus(path: string): Promise<readonly { readonly name: string }[]>
    open(path: string): Promise<{ pread(offset: number, size: number): Promise<Buffer> }>
  }

  export class AgentFS {
    static open(options: { path: string }): Promise<AgentFS>
    readonly fs: FileSystem
    close(): Promise<void>
  }
}
