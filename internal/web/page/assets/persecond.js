// @ts-check
/** Counts of the last seconds, for a chart. It keeps a fixed number of seconds and needs no timer. */
export class PerSecond {
  /** @param {number} seconds */
  constructor(seconds) {
    this.counts = new Float64Array(seconds);
    this.last = 0; // the newest second that has a place
  }

  /** @param {number} second since 1970 @param {number} amount */
  add(second, amount) {
    const size = this.counts.length;
    if (second > this.last) {
      const empty = Math.min(second - this.last, size);
      for (let n = 0; n < empty; n++) this.counts[(second - n) % size] = 0;
      this.last = second;
    }
    if (second > this.last - size) this.counts[second % size] += amount;
  }

  /** The counts up to a second, the oldest first. @param {number} second @param {number} [length] */
  read(second, length = this.counts.length) {
    const size = this.counts.length;
    return Array.from({ length }, (_, n) => {
      const at = second - length + 1 + n;
      return at <= this.last && at > this.last - size ? this.counts[at % size] : 0;
    });
  }
}
