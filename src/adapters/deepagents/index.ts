/**
 * Any file system as a backend of deepagents, for its tools that list, read, write, edit and search. No package is
 * loaded: the protocol is declared here, and tests compare it with the real one. Invariant: no call throws; the result
 * has the error, which deepagents passes to the model.
 */
export { type DeepAgentsOptions, deepAgentsBackend } from './deep-agents-backend.ts'
export type {
  DeepAgentsBackend,
  DeleteResult,
  DownloadResult,
  EditResult,
  FileInfo,
  FilesResult,
  GrepMatch,
  GrepResult,
  RawFile,
  RawResult,
  ReadResult,
  TransferError,
  UploadResult,
  WriteResult,
} from './protocol.ts'
