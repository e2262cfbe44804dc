import { VfsError } from '../../vfs/index.ts'

/** A language server that may be installed on this machine. */
export interface LanguageServerSpec {
  readonly name: string
  /** The language of each extension it knows, as the protocol names it. */
  readonly languages: Readonly<Record<string, string>>
  readonly command: string
  readonly args: readonly string[]
  readonly initializationOptions?: Readonly<Record<string, unknown>>
  /** What to do where there is none. */
  readonly install: string
}

/** The servers that are looked for unless others are configured. */
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
      // Until the project is read, half-truths would be told.
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

/** The server for a file. ENOTSUP, with the extensions that are known. */
export function getServerSpec(file: string, servers: readonly LanguageServerSpec[]): LanguageServerSpec {
  const found = servers.find(({ languages }) => Object.hasOwn(languages, getExtension(file)))
  if (found !== undefined) return found
  const known = servers.flatMap(({ languages }) => Object.keys(languages)).join(', ')
  const detail = `there is no language server for this kind of file; there are some for ${known}`
  throw new VfsError('ENOTSUP', file, { op: 'lsp', detail })
}

/** The language of a file, as the protocol names it. */
export function getLanguageId(file: string, { languages }: LanguageServerSpec): string {
  return languages[getExtension(file)] ?? 'plaintext'
}

/** Whether a file is in a language of a server. */
export function isSupportedBy({ languages }: LanguageServerSpec, file: string): boolean {
  return Object.hasOwn(languages, getExtension(file))
}

function getExtension(file: string): string {
  return /\.[^./]+$/.exec(file)?.[0].toLowerCase() ?? ''
}
