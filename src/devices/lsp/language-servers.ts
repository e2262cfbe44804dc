import { VfsError } from '../../vfs/index.ts'

/** A language server that may be installed on this machine. */
export interface LanguageServerSpec {
  readonly name: string
  /** Language id of the protocol by file extension. */
  readonly languages: Readonly<Record<string, string>>
  readonly command: string
  readonly args: readonly string[]
  readonly initializationOptions?: Readonly<Record<string, unknown>>
  /** Instruction for installing the server. */
  readonly install: string
}

/** Servers to look for unless others are configured. */
export const defaultServers: readonly LanguageServerSpec[] = [
  {
    name: 'gopls',
    languages: { '.go': 'go' },
    command: 'gopls',
    args: [],
    install: 'go install golang.org/x/tools/gopls@latest',
  },
  {
    name: 'typescript-language-server',
    languages: {
      '.ts': 'typescript',
      '.mts': 'typescript',
      '.cts': 'typescript',
      '.tsx': 'typescriptreact',
      '.js': 'javascript',
      '.mjs': 'javascript',
      '.cjs': 'javascript',
      '.jsx': 'javascriptreact',
    },
    command: 'typescript-language-server',
    args: ['--stdio'],
    initializationOptions: {
      // It would fetch type declarations from the network.
      disableAutomaticTypingAcquisition: true,
      // The syntax server would give incomplete results until the project is loaded.
      tsserver: { useSyntaxServer: 'never' },
    },
    install: 'npm install -g typescript-language-server typescript@5',
  },
  {
    name: 'rust-analyzer',
    languages: { '.rs': 'rust' },
    command: 'rust-analyzer',
    args: [],
    install: 'rustup component add rust-analyzer',
  },
  {
    name: 'pyright',
    languages: { '.py': 'python', '.pyi': 'python' },
    command: 'pyright-langserver',
    args: ['--stdio'],
    install: 'npm install -g pyright',
  },
]

/** Returns the server for a file. ENOTSUP if there is none for its extension. */
export function getServerSpec(file: string, servers: readonly LanguageServerSpec[]): LanguageServerSpec {
  const found = servers.find(({ languages }) => Object.hasOwn(languages, getExtension(file)))
  if (found !== undefined) return found
  const extensions = servers.flatMap(({ languages }) => Object.keys(languages)).join(', ')
  const detail = `there is no language server for this kind of file; supported: ${extensions}`
  throw new VfsError('ENOTSUP', file, { op: 'lsp', detail })
}

/** Returns the protocol's language id of a file. */
export function getLanguageId(file: string, { languages }: LanguageServerSpec): string {
  return languages[getExtension(file)] ?? 'plaintext'
}

/** Reports whether a server supports a file's language. */
export function isSupportedBy({ languages }: LanguageServerSpec, file: string): boolean {
  return Object.hasOwn(languages, getExtension(file))
}

function getExtension(file: string): string {
  return /\.[^./]+$/.exec(file)?.[0].toLowerCase() ?? ''
}
