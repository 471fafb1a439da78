/** What a table cache keeps open. */
export interface OpenTable {
  /** Gives back file, pins and memory. */
  close(): void;
}

interface Entry<T> {
  readonly table: T;
  /** How many hold it now. */
  users: number;
}

/**
 * Open tables by their identity, at most `capacity` of them beside those in use: opening one reads its footer,
 * properties, index and filter, and takes a file descriptor. The one that was used longest ago is closed first; one
 * in use never is, so that there may be more than `capacity`.
 */
export class TableCache<T extends OpenTable> {
  hits = 0;
  misses = 0;
  /** In the order of their last use: a Map keeps the order of insertion. */
  private readonly entries = new Map<string, Entry<T>>();

  constructor(
    private readonly open: (identity: string) => T,
    readonly capacity: number,
  ) {}

  get count(): number {
    return this.entries.size;
  }

  /** The table, opened if it is not. Whoever acquires it releases it. Throws what opening throws. */
  acquire(identity: string): T {
    let entry = this.entries.get(identity);
    if (entry === undefined) {
      this.misses++;
      entry = { table: this.open(identity), users: 0 };
    } else {
      this.hits++;
      this.entries.delete(identity);
    }
    this.entries.set(identity, entry);
    entry.users++;
    this.closeUnused();
    return entry.table;
  }

  release(identity: string): void {
    const entry = this.entries.get(identity);
    if (entry === undefined || entry.users === 0)
      throw new Error(`${identity} is released and was not acquired`);
    entry.users--;
    this.closeUnused();
  }

  /** Closes all that nobody holds: those files are gone, or the database is closed. */
  clear(): void {
    for (const [identity, { users, table }] of this.entries) {
      if (users > 0) continue;
      this.entries.delete(identity);
      table.close();
    }
  }

  private closeUnused(): void {
    if (this.entries.size <= this.capacity) return;
    for (const [identity, { users, table }] of this.entries) {
      if (users > 0) continue;
      this.entries.delete(identity);
      table.close();
      if (this.entries.size <= this.capacity) return;
    }
  }
}
