import { FILES_MAXIMUM, type FileToUpload, tooManyFiles } from './upload-queue.ts'

/** The files of an input, with their paths in a chosen folder. */
export function chosenFiles(files: FileList, prefix: string): FileToUpload[] {
  return [...files].map((file) => ({ key: prefix + (file.webkitRelativePath || file.name), file }))
}

/**
 * The dropped files, including files in folders. Must be called during the event.
 * @throws ApiError TOO_MANY_FILES
 */
export async function droppedFiles(items: DataTransferItemList, prefix: string): Promise<FileToUpload[]> {
  const entries = [...items].flatMap((item) => item.webkitGetAsEntry() ?? [])
  const files: FileToUpload[] = []
  for (const entry of entries) await gather(entry, prefix, files)
  return files
}

async function gather(entry: FileSystemEntry, prefix: string, files: FileToUpload[]): Promise<void> {
  if (entry.isFile) {
    if (files.length >= FILES_MAXIMUM) throw tooManyFiles()
    files.push({ key: prefix + entry.name, file: await fileOf(entry as FileSystemFileEntry) })
    return
  }
  for (const child of await childrenOf(entry as FileSystemDirectoryEntry)) {
    await gather(child, `${prefix}${entry.name}/`, files)
  }
}

function fileOf(entry: FileSystemFileEntry): Promise<File> {
  return new Promise((resolve, reject) => entry.file(resolve, reject))
}

/** The entries of a folder. Browsers return them in batches, and an empty batch at the end. */
async function childrenOf(folder: FileSystemDirectoryEntry): Promise<FileSystemEntry[]> {
  const reader = folder.createReader()
  const children: FileSystemEntry[] = []
  for (;;) {
    const some = await new Promise<FileSystemEntry[]>((resolve, reject) => reader.readEntries(resolve, reject))
    if (some.length === 0) return children
    children.push(...some)
  }
}
