/**
 * Any file system as a backend of deepagents: what its file tools list, read, write, edit and search.
 * No package is loaded: the protocol is written down here, and the real one is held against it in the tests.
 * Invariant: no call throws; what went wrong is in the result, as deepagents tells it to the model.
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
