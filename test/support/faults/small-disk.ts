import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SIZE = '320m';

/** A disk that a test can fill without harm to others. */
export class SmallDisk {
  private constructor(readonly folder: string) {}

  /** @returns `undefined` if this user may not mount one */
  static mounted(): SmallDisk | undefined {
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-disk-'));
    const options = ['-t', 'tmpfs', '-o', `size=${SIZE},mode=1777`, 'tmpfs', folder];
    if (spawnSync('mount', options).status === 0) return new SmallDisk(folder);
    rmdirSync(folder);
    return undefined;
  }

  /** Fills it to the last byte; call it again when space was freed. */
  fill(): void {
    const file = openSync(this.#filler, 'a');
    try {
      for (let bytes = 1 << 20; bytes >= 512; bytes /= 2) {
        const piece = Buffer.alloc(bytes);
        while (this.#takes(file, piece));
      }
    } finally {
      closeSync(file);
    }
  }

  /** Frees some of the filled space. */
  empty(): void {
    rmSync(this.#filler, { force: true });
  }

  unmount(): void {
    spawnSync('umount', [this.folder]);
    rmdirSync(this.folder);
  }

  get #filler(): string {
    return join(this.folder, 'filler');
  }

  #takes(file: number, piece: Buffer): boolean {
    try {
      return writeSync(file, piece) === piece.length;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') return false;
      throw error;
    }
  }
}

/** Private servers that start meanwhile keep their data there. */
export async function onSmallDisk(body: (disk: SmallDisk) => Promise<void>): Promise<void> {
  const disk = SmallDisk.mounted();
  assert.ok(disk);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = disk.folder;
  try {
    await body(disk);
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    disk.unmount();
  }
}

/** Whether this user may mount one. */
export function canMountDisks(): boolean {
  const disk = SmallDisk.mounted();
  disk?.unmount();
  return disk !== undefined;
}
